//! Files on a real disk: modes, links, backups and leftovers.

use testkit::TempFolder;

use super::*;

/// The names in a folder, sorted.
fn names(folder: &TempFolder) -> Vec<String> {
    let name =
        |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(name).collect();
    names.sort();
    names
}

fn append(text: &str) -> Result<String, String> {
    Ok(format!("{text}+"))
}

#[test]
fn a_missing_file_is_made_with_its_folders() {
    let folder = TempFolder::new();
    let file = folder.path().join("a/b.json");
    assert_eq!(edit_file(&file, false, append), Ok(Outcome::Written(Backup::None)));
    assert_eq!(fs::read_to_string(file).unwrap(), "+");
}

#[test]
fn a_change_keeps_the_mode_and_a_copy() {
    let folder = TempFolder::new();
    let file = folder.path().join("b.json");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    let copy = fs::canonicalize(folder.path()).unwrap().join("b.json.bak");
    assert_eq!(edit_file(&file, false, append), Ok(Outcome::Written(Backup::Copy(copy.clone()))));
    for (path, text) in [(&file, "old+"), (&copy, "old")] {
        assert_eq!(fs::read_to_string(path).unwrap(), text);
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o640);
    }
    assert_eq!(names(&folder), ["b.json", "b.json.bak"], "a draft stayed behind");
    assert_eq!(edit_file(&file, false, |text| Ok(text.to_owned())), Ok(Outcome::Unchanged));
    assert_eq!(fs::read_to_string(copy).unwrap(), "old", "an idle run replaced the copy");
}

#[test]
fn a_file_with_a_token_and_its_copy_are_for_the_user_alone() {
    let folder = TempFolder::new();
    let mode =
        |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    edit_file(&folder.path().join("new.json"), true, append).unwrap();
    assert_eq!(mode("new.json"), 0o600);
    let file = folder.path().join("b.json");
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
    let folder = TempFolder::new();
    let (real, link) = (folder.path().join("real.json"), folder.path().join("link.json"));
    fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    edit_file(&link, false, append).unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(real).unwrap(), "old+");
    let dangling = folder.path().join("dangling.json");
    std::os::unix::fs::symlink(folder.path().join("nowhere"), &dangling).unwrap();
    assert!(edit_file(&dangling, false, append).is_err());
}

#[test]
fn what_cannot_be_read_or_edited_stays() {
    let folder = TempFolder::new();
    let file = folder.path().join("b.json");
    fs::write(&file, b"\xff\xfe").unwrap();
    assert_eq!(edit_file(&file, false, append), Err("it is not UTF-8".to_owned()));
    assert_eq!(edit_file(folder.path(), false, append), Err("it is not a file".to_owned()));
    fs::write(&file, "{").unwrap();
    assert_eq!(edit_file(&file, false, |_| Err("no".to_owned())), Err("no".to_owned()));
    assert_eq!(fs::read_to_string(&file).unwrap(), "{");
    File::create(&file).unwrap().set_len(FILE_BYTES_MAX + 1).unwrap();
    assert!(edit_file(&file, false, append).unwrap_err().contains("larger"));
    assert_eq!(names(&folder), ["b.json"], "something was left behind");
}
