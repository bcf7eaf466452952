//! A bundle (`.mcpb`) that Claude Desktop installs: a ZIP archive with this program and a manifest.
//! Its members are stored, not compressed, so that the archive can be written in one pass.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::app::VERSION;
use crate::commands::install::NAME;
use crate::commands::install::launch::{EntryValue, Launch, Transport};
use crate::commands::names;
use crate::exit::CommandError;

const PROGRAM: &str = "server/stoa";

/// Writes a bundle of this program. It holds no path of this machine and no secret.
pub(super) fn write(file: &Path, program: &Path, launch: &Launch) -> Result<(), CommandError> {
    let manifest = manifest(launch)?;
    let manifest = serde_json::to_string_pretty(&manifest).map_err(CommandError::other)? + "\n";
    let refuse = |error: io::Error| {
        CommandError::data(format!("{} cannot be written: {error}", file.display()))
    };
    let mut zip = Zip::new(BufWriter::new(File::create(file).map_err(refuse)?));
    zip.add("manifest.json", 0o644, manifest.as_bytes(), manifest.as_bytes()).map_err(refuse)?;
    let open = || File::open(program);
    let (first, second) = (open()?, open()?);
    zip.add(PROGRAM, 0o755, first, second).map_err(refuse)?;
    zip.finish().map_err(refuse)
}

/// The manifest, in version 0.3 of its specification.
pub(super) fn manifest(launch: &Launch) -> Result<Value, CommandError> {
    let Transport::Stdio { args, env, .. } = &launch.transport else {
        return Err(CommandError::usage("a bundle starts a command; leave out --http"));
    };
    let mut variables: Map<String, Value> = Map::new();
    let mut asked: Map<String, Value> = Map::new();
    let secret = |title: &str, description: &str| {
        json!({
            "type": "string", "title": title, "description": description,
            "sensitive": true, "required": false,
        })
    };
    for (name, value) in env {
        match value {
            EntryValue::Text(text) => drop(variables.insert(name.clone(), json!(text))),
            EntryValue::Variable { name, .. } => {
                let key = name.to_lowercase();
                variables.insert((*name).to_owned(), json!(format!("${{user_config.{key}}}")));
                asked.insert(key, secret(name, "A secret of the settings that made this bundle"));
            }
        }
    }
    variables.insert("STOA_TOKEN".to_owned(), json!("${user_config.stoa_token}"));
    let token =
        secret("Token", "From `stoa token mint`; only tools that change something need one");
    asked.insert("stoa_token".to_owned(), token);
    let tools: Vec<Value> = names::tools()?
        .into_iter()
        .map(|tool| json!({ "name": tool.name, "description": tool.title }))
        .collect();
    let platform = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    Ok(json!({
        "manifest_version": "0.3",
        "name": NAME,
        "display_name": "Stoa",
        "version": VERSION,
        "description": "Markets, prices and documents for AI agents",
        "author": { "name": "The Stoa authors" },
        "license": "MIT OR Apache-2.0",
        "server": {
            "type": "binary",
            "entry_point": PROGRAM,
            "mcp_config": {
                "command": format!("${{__dirname}}/{PROGRAM}"),
                "args": without_paths(args),
                "env": variables,
            },
        },
        "tools": tools,
        "user_config": asked,
        "compatibility": { "platforms": [platform] },
    }))
}

/// The folder of the data and the configuration file are those of the user who installs the bundle.
fn without_paths(args: &[String]) -> Vec<&str> {
    let mut kept = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--data" | "--config" => drop(words.next()),
            word => kept.push(word),
        }
    }
    kept
}

/// A ZIP archive of stored members. Sizes are 32 bits, which is enough for a program.
struct Zip<W> {
    out: W,
    offset: u32,
    directory: Vec<u8>,
    members: u16,
}

/// What both headers of a member say about it.
struct Member<'a> {
    name: &'a str,
    crc: u32,
    size: u32,
}

impl Member<'_> {
    /// Version, flags, method, time, date (1980-01-01), checksum, sizes and the length of the name.
    fn common(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [20_u16, 0, 0, 0, 0x21] {
            bytes.extend(word.to_le_bytes());
        }
        for word in [self.crc, self.size, self.size] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(u16::try_from(self.name.len()).unwrap_or_default().to_le_bytes());
        bytes
    }
}

impl<W: Write> Zip<W> {
    const LOCAL: u32 = 0x0403_4b50;
    const CENTRAL: u32 = 0x0201_4b50;
    const END: u32 = 0x0605_4b50;
    /// The attributes of the member are those of Unix, version 2.0.
    const UNIX: u16 = (3 << 8) | 20;

    fn new(out: W) -> Self {
        Self { out, offset: 0, directory: Vec::new(), members: 0 }
    }

    /// Reads the content twice: the checksum stands before it.
    fn add(
        &mut self,
        name: &str,
        mode: u32,
        mut first: impl Read,
        mut second: impl Read,
    ) -> io::Result<()> {
        let mut sum = Checksum::default();
        io::copy(&mut first, &mut sum)?;
        let member = Member { name, crc: sum.hash.finalize(), size: sum.size };
        let common = member.common();
        self.out.write_all(&Self::LOCAL.to_le_bytes())?;
        self.out.write_all(&common)?;
        self.out.write_all(&0_u16.to_le_bytes())?;
        self.out.write_all(name.as_bytes())?;
        let copied = io::copy(&mut second, &mut self.out)?;
        if copied != u64::from(member.size) {
            return Err(io::Error::other("the program's file changed meanwhile"));
        }
        self.directory.extend(Self::CENTRAL.to_le_bytes());
        self.directory.extend(Self::UNIX.to_le_bytes());
        self.directory.extend(&common);
        // No extra field, no comment, the first disk, no internal attributes.
        self.directory.extend([0; 8]);
        self.directory.extend(((0o100_000 | mode) << 16).to_le_bytes());
        self.directory.extend(self.offset.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.members += 1;
        let header = 4 + common.len() + 2 + name.len();
        let written = u32::try_from(header).ok().and_then(|it| it.checked_add(member.size));
        let offset = written.and_then(|it| self.offset.checked_add(it));
        self.offset = offset.ok_or_else(|| io::Error::other("the bundle is too large"))?;
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        let size = u32::try_from(self.directory.len()).map_err(io::Error::other)?;
        let mut end = Vec::new();
        end.extend(Self::END.to_le_bytes());
        end.extend([0; 4]);
        end.extend(self.members.to_le_bytes());
        end.extend(self.members.to_le_bytes());
        end.extend(size.to_le_bytes());
        end.extend(self.offset.to_le_bytes());
        end.extend([0; 2]);
        self.out.write_all(&self.directory)?;
        self.out.write_all(&end)?;
        self.out.flush()
    }
}

#[derive(Default)]
struct Checksum {
    hash: crc32fast::Hasher,
    size: u32,
}

impl Write for Checksum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let size = u32::try_from(bytes.len()).ok().and_then(|it| self.size.checked_add(it));
        self.size = size.ok_or_else(|| io::Error::other("it is larger than 4 GiB"))?;
        self.hash.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_each_member_at_the_place_its_directory_names() {
        let mut bytes = Vec::new();
        let mut zip = Zip::new(&mut bytes);
        for (name, content) in [("a.txt", "alpha"), ("b/c", "")] {
            zip.add(name, 0o755, content.as_bytes(), content.as_bytes()).unwrap();
        }
        zip.finish().unwrap();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let end = bytes.len() - 22;
        assert_eq!(word(end), Zip::<Vec<u8>>::END);
        let directory = word(end + 16) as usize;
        assert_eq!(word(directory), Zip::<Vec<u8>>::CENTRAL);
        assert_eq!(word(directory + 16), 0xd0e0_396a, "the checksum of alpha");
        assert_eq!(word(directory + 20), 5, "the size of alpha");
        assert_eq!(word(directory + 38) >> 16, 0o100_755);
        let second = directory + 46 + "a.txt".len();
        let local = word(second + 42) as usize;
        assert_eq!(word(local), Zip::<Vec<u8>>::LOCAL);
        assert_eq!(&bytes[local + 30..local + 33], b"b/c");
    }

    #[test]
    fn a_bundle_has_no_path_of_this_machine() {
        let args = ["mcp", "--data", "/home/a", "--config", "/home/b", "--read-only"];
        let args: Vec<String> = args.iter().map(|&it| it.to_owned()).collect();
        assert_eq!(without_paths(&args), ["mcp", "--read-only"]);
    }
}
