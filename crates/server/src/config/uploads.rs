//! The settings of uploads to the archive.

use archive_documents::UploadLimits;

use super::Settings;
use crate::exit::CommandError;

/// The limits of uploads. A file that may be sent fits into its request and into the user's share.
pub(super) fn upload_limits(settings: &Settings) -> Result<UploadLimits, CommandError> {
    let file_bytes = settings.archive_file_bytes_max;
    if !UploadLimits::FILE_BYTES.contains(&file_bytes) {
        return Err(settings.sources.bad_value("archive_file_bytes_max"));
    }
    let usual_batch = UploadLimits::default().batch_bytes.max(file_bytes);
    let batch_bytes = settings.archive_batch_bytes_max.unwrap_or(usual_batch);
    let owner_bytes = settings.archive_user_bytes_max;
    let others =
        [("archive_batch_bytes_max", batch_bytes), ("archive_user_bytes_max", owner_bytes)];
    if let Some((key, _)) = others.iter().find(|(_, bytes)| *bytes < file_bytes) {
        return Err(settings.sources.bad_value(key));
    }
    Ok(UploadLimits {
        uploads_per_minute: settings.archive_uploads_per_minute,
        uploads_per_hour: settings.archive_uploads_per_hour,
        file_bytes,
        batch_bytes,
        owner_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    fn settings() -> Settings {
        Settings { data: Some("/data".into()), ..Settings::default() }
    }

    #[test]
    fn a_file_of_the_archive_fits_into_its_request_and_its_user_s_share() {
        let limits = |file, batch, user| {
            let settings = Settings {
                archive_file_bytes_max: file,
                archive_batch_bytes_max: batch,
                archive_user_bytes_max: user,
                ..settings()
            };
            let limits = Config::resolve(settings).map(|config| config.uploads);
            limits.map(|it| (it.file_bytes, it.batch_bytes)).map_err(|error| error.to_string())
        };
        let usual = Config::resolve(settings()).unwrap().uploads;
        assert_eq!(usual, UploadLimits::default());
        let (mib, gib) = (1_u64 << 20, 1 << 30);
        assert_eq!(limits(gib, None, 2 * gib), Ok((gib, gib)));
        assert_eq!(limits(mib, None, mib), Ok((mib, 500 * mib)));
        assert_eq!(limits(mib, Some(mib), mib), Ok((mib, mib)));
        for (file, batch, user, key) in [
            (mib - 1, None, gib, "archive_file_bytes_max"),
            (gib + 1, None, 2 * gib, "archive_file_bytes_max"),
            (2 * mib, Some(mib), gib, "archive_batch_bytes_max"),
            (2 * mib, None, mib, "archive_user_bytes_max"),
        ] {
            let error = limits(file, batch, user).unwrap_err();
            assert!(error.starts_with(key), "{error}");
        }
    }
}
