//! The upload and download sections of a contract: paths, size limits and schemas. The bytes
//! themselves are in [`crate::upload`] and [`crate::download`].

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::address;
use crate::concurrency::Concurrency;
use crate::files::{ContractError, ServiceFiles};
use crate::schema::Schema;

/// One upload of a contract: a form with files, sent with `POST` as `multipart/form-data`.
#[derive(Debug)]
pub struct UploadSpec {
    /// The name.
    pub name: String,
    /// The title for people.
    pub title: String,
    /// The description for people.
    pub description: String,
    /// The main path.
    pub path: String,
    /// Further paths of the same upload.
    pub also: Vec<String>,
    /// The largest file, in bytes.
    pub file_bytes: u64,
    /// The largest sum of all files of one form, in bytes.
    pub batch_bytes: u64,
    /// The schema of the form's fields that are not files, as one object.
    pub form: Schema,
    /// The schema of the reply.
    pub output: Schema,
    /// Whether the body may also be one file as it is, sent with `PUT` or `POST`.
    pub raw: bool,
    /// How many uploads run at once; `None` for the server's default.
    pub concurrency: Option<Concurrency>,
}

/// One download of a contract, fetched with `GET`; arguments come from the path and the query.
#[derive(Debug)]
pub struct DownloadSpec {
    /// The name.
    pub name: String,
    /// The title for people.
    pub title: String,
    /// The description for people.
    pub description: String,
    /// The main path, with `{name}` for each argument in it.
    pub path: String,
    /// Further paths of the same file.
    pub also: Vec<String>,
    /// The schema of the arguments.
    pub input: Schema,
    /// The media type of the file; `None` for files of any type.
    pub media: Option<String>,
}

impl UploadSpec {
    /// Every path, the main one first.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        address::all_paths(&self.path, &self.also)
    }

    /// The HTTP methods that send it.
    pub fn methods(&self) -> &'static [&'static str] {
        if self.raw { &["POST", "PUT"] } else { &["POST"] }
    }
}

impl DownloadSpec {
    /// Every path, the main one first.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        address::all_paths(&self.path, &self.also)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UploadFile {
    name: String,
    title: String,
    description: String,
    path: String,
    #[serde(default)]
    also: Vec<String>,
    file_bytes: u64,
    batch_bytes: u64,
    form: String,
    output: String,
    #[serde(default)]
    raw: bool,
    concurrency: Option<Concurrency>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DownloadFile {
    name: String,
    title: String,
    description: String,
    path: String,
    #[serde(default)]
    also: Vec<String>,
    input: String,
    media: Option<String>,
    /// Arguments that are times; they are read in every form.
    #[serde(default)]
    times: Vec<String>,
}

impl UploadFile {
    pub(crate) fn load(self, files: &ServiceFiles<'_>) -> Result<UploadSpec, ContractError> {
        // An argument in the path is any text; its name need not be one of the form's fields.
        let names = address::path_parameters(&self.path);
        let texts: Map<String, Value> =
            names.map(|name| (name.to_owned(), json!({ "type": "string" }))).collect();
        let arguments = Schema::new(json!({ "properties": texts }));
        address::check(&self.path, &self.also, &arguments)?;
        Ok(UploadSpec {
            form: Schema::new(files.resolve(&self.form)?),
            output: Schema::new(files.resolve(&self.output)?),
            name: self.name,
            title: self.title,
            description: self.description,
            path: self.path,
            also: self.also,
            file_bytes: self.file_bytes,
            batch_bytes: self.batch_bytes,
            raw: self.raw,
            concurrency: self.concurrency,
        })
    }
}

impl DownloadFile {
    pub(crate) fn load(self, files: &ServiceFiles<'_>) -> Result<DownloadSpec, ContractError> {
        let input = Schema::new(files.resolve(&self.input)?).with_times(&self.times)?;
        address::check(&self.path, &self.also, &input)?;
        Ok(DownloadSpec {
            input,
            media: self.media,
            name: self.name,
            title: self.title,
            description: self.description,
            path: self.path,
            also: self.also,
        })
    }
}
