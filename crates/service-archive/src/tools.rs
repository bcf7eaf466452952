//! One file for each operation of `contracts/archive/contract.json`: tools, uploads and downloads.
//! Each file has its argument types and one `call`.

pub(crate) mod add_file;
pub(crate) mod auth;
pub(crate) mod cancel_job;
pub(crate) mod delete_file;
pub(crate) mod delete_insight;
pub(crate) mod export;
pub(crate) mod export_file;
pub(crate) mod file_content;
pub(crate) mod file_status;
pub(crate) mod integrity_test;
pub(crate) mod job_status;
pub(crate) mod list_cases;
pub(crate) mod list_files;
pub(crate) mod page_picture;
pub(crate) mod page_words;
pub(crate) mod process_file;
pub(crate) mod query_insights;
pub(crate) mod read_page;
pub(crate) mod search_documents;
pub(crate) mod search_pages;
pub(crate) mod share_case;
pub(crate) mod store_insight;
pub(crate) mod update_insight;
pub(crate) mod upload;
pub(crate) mod upload_by_link;
pub(crate) mod upload_progress;
