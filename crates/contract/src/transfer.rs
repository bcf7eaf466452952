//! What a contract says of files that come and go: where they are sent, how large they may be, and
//! where they are fetched. The bytes themselves are in [`crate::upload`] and [`crate::download`].

use serde::Deserialize;

use crate::address;
use crate::concurrency::Concurrency;
use crate::files::{ContractError, follow};
use crate::schema::Schema;

/// A form with files, sent with `POST` as `multipart/form-data`.
#[derive(Debug)]
pub struct UploadSpec {
    pub name: String,
    pub title: String,
    pub description: String,
    pub path: String,
    /// Further paths of the same upload.
    pub also: Vec<String>,
    /// How large one file may be.
    pub file_bytes: u64,
    /// How large all files of one form may be together.
    pub batch_bytes: u64,
    /// The fields of the form that are no files, as one object.
    pub form: Schema,
    pub output: Schema,
    pub concurrency: Option<Concurrency>,
}

/// A file that is fetched with `GET`; the arguments are the query and what stands in the path.
#[derive(Debug)]
pub struct DownloadSpec {
    pub name: String,
    pub title: String,
    pub description: String,
    pub path: String,
    /// Further paths of the same file.
    pub also: Vec<String>,
    pub input: Schema,
}

impl UploadSpec {
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        address::all(&self.path, &self.also)
    }
}

impl DownloadSpec {
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        address::all(&self.path, &self.also)
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
}

impl UploadFile {
    pub(crate) fn load(self, service: &str) -> Result<UploadSpec, ContractError> {
        let form = Schema::compile(follow(service, &self.form)?)?;
        // The fields come with the form, so a path has none of them.
        address::check(&self.path, &self.also, &Schema::compile(true.into())?)?;
        Ok(UploadSpec {
            form,
            output: Schema::compile(follow(service, &self.output)?)?,
            name: self.name,
            title: self.title,
            description: self.description,
            path: self.path,
            also: self.also,
            file_bytes: self.file_bytes,
            batch_bytes: self.batch_bytes,
            concurrency: self.concurrency,
        })
    }
}

impl DownloadFile {
    pub(crate) fn load(self, service: &str) -> Result<DownloadSpec, ContractError> {
        let input = Schema::compile(follow(service, &self.input)?)?;
        address::check(&self.path, &self.also, &input)?;
        Ok(DownloadSpec {
            input,
            name: self.name,
            title: self.title,
            description: self.description,
            path: self.path,
            also: self.also,
        })
    }
}
