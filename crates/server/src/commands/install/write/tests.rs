//! Files on a real disk: modes, links, backups and leftovers.

use super::*;

/// A folder of the test's own, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("stoa-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn names(&self) -> Vec<String> {
        let name = |entry: std::io::Result<fs::DirEntry>| {
            entry.unwrap().file_name().into_string().unwrap()
        };
        let mut names: Vec<_> = fs::read_dir(&self.0).unwrap().map(name).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

fn append(text: &str) -> Result<String, String> {
    Ok(format!("{text}+"))
}

#[test]
fn a_missing_file_is_made_with_its_folders() {
    let folder = Folder::new("made");
    let file = folder.0.join("a/b.json");
    assert_eq!(edit_file(&file, false, append), Ok(Outcome::Written(Backup::None)));
    assert_eq!(fs::read_to_string(file).unwrap(), "+");
}

#[test]
fn a_change_keeps_the_mode_and_a_copy() {
    let folder = Folder::new("kept");
    let file = folder.0.join("b.json");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    let copy = fs::canonicalize(&folder.0).unwrap().join("b.json.bak");
    assert_eq!(edit_file(&file, false, append), Ok(Outcome::Written(Backup::Copy(copy.clone()))));
    for (path, text) in [(&file, "old+"), (&copy, "old")] {
        assert_eq!(fs::read_to_string(path).unwrap(), text);
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o640);
    }
    assert_eq!(folder.names(), ["b.json", "b.json.bak"], "a draft stayed behind");
    assert_eq!(edit_file(&file, false, |text| Ok(text.to_owned())), Ok(Outcome::Unchanged));
    assert_eq!(fs::read_to_string(copy).unwrap(), "old", "an idle run replaced the copy");
}

#[test]
fn a_file_with_a_token_and_its_copy_are_for_the_user_alone() {
    let folder = Folder::new("private");
    let mode = |name: &str| fs::metadata(folder.0.join(name)).unwrap().permissions().mode() & 0o777;
    edit_file(&folder.0.join("new.json"), true, append).unwrap();
    assert_eq!(mode("new.json"), 0o600);
    let file = folder.0.join("b.json");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    edit_file(&file, true, append).unwrap();
    assert_eq!((mode("b.json"), mode("b.json.bak")), (0o600, 0o600));
    // It stays private when it is changed again.
    edit_file(&file, false, append).unwrap();
    assert_eq!(mode("b.json"), 0o600);
}

#[test]
fn a_link_stays_a_link() {
    let folder = Folder::new("link");
    let (real, link) = (folder.0.join("real.json"), folder.0.join("link.json"));
    fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    edit_file(&link, false, append).unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(real).unwrap(), "old+");
    let dangling = folder.0.join("dangling.json");
    std::os::unix::fs::symlink(folder.0.join("nowhere"), &dangling).unwrap();
    assert!(edit_file(&dangling, false, append).is_err());
}

#[test]
fn what_cannot_be_read_or_edited_stays() {
    let folder = Folder::new("refused");
    let file = folder.0.join("b.json");
    fs::write(&file, b"\xff\xfe").unwrap();
    assert_eq!(edit_file(&file, false, append), Err("it is not UTF-8".to_owned()));
    assert_eq!(edit_file(&folder.0, false, append), Err("it is not a file".to_owned()));
    fs::write(&file, "{").unwrap();
    assert_eq!(edit_file(&file, false, |_| Err("no".to_owned())), Err("no".to_owned()));
    assert_eq!(fs::read_to_string(&file).unwrap(), "{");
    File::create(&file).unwrap().set_len(FILE_BYTES_MAX + 1).unwrap();
    assert!(edit_file(&file, false, append).unwrap_err().contains("larger"));
    assert_eq!(folder.names(), ["b.json"], "something was left behind");
}
