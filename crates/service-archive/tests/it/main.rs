//! The archive as a whole: its service behind the pipeline, real databases, and a real child process
//! for every extraction. The child is this program with the argument `worker`,
//! `analyse` or `hang`.
#![expect(clippy::unwrap_used, clippy::panic, reason = "this is a test")]

mod accounts;
mod chat;
mod checks;
mod fixture;
mod flow;
mod open_input;
mod pictures;
mod reading;
mod search;
mod tasks;
mod trouble;
mod uploads;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// One trial per function, under the function's path.
macro_rules! trials {
    ($($module:ident::$test:ident,)*) => {
        vec![$(Trial::test(concat!(stringify!($module), "::", stringify!($test)), || {
            $module::$test();
            Ok(())
        })),*]
    };
}

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("worker") => archive_extract::worker_main(std::io::stdin(), std::io::stdout()),
        Some("analyse") => service_archive::analysis_main(std::io::stdin(), std::io::stdout()),
        Some("hang") => loop {
            std::thread::park();
        },
        _ => libtest_mimic::run(&Arguments::from_args(), trials()).exit_code(),
    }
}

fn trials() -> Vec<Trial> {
    trials! {
        flow::a_file_is_uploaded_processed_and_found,
        flow::processing_again_replaces_what_processing_made,
        flow::a_message_is_read_with_its_attachments,
        flow::deep_processing_compares_files_and_asks_a_model,
        flow::extraction_modes_differ,
        flow::queries_apply_their_filters,
        flow::an_export_is_one_document,
        reading::problems_of_pages_are_shown_everywhere,
        reading::a_password_opens_a_file_and_is_kept_nowhere,
        reading::a_password_is_asked_for_again_after_a_restart,
        search::pages_are_found_with_their_words,
        search::unreadable_queries_name_the_place,
        search::pages_follow_their_file,
        search::files_of_an_earlier_version_are_added_after_the_start,
        search::papers_are_filtered_by_type_and_date,
        pictures::a_page_is_drawn_with_the_words_of_an_insight,
        pictures::pictures_are_refused_with_the_reason,
        pictures::a_deleted_file_has_no_picture,
        trouble::an_unreadable_file_reports_the_reason,
        trouble::a_running_job_is_cancelled,
        trouble::missing_and_foreign_files_and_jobs_are_refused,
        trouble::invalid_input_names_the_field,
        trouble::a_deleted_file_is_gone,
        trouble::words_of_a_deleted_file_are_not_on_the_disk,
        trouble::one_owner_leaves_a_slot_for_the_others,
        uploads::uploads_are_whole_or_nothing,
        uploads::uploads_report_their_progress,
        uploads::an_upload_ends_with_its_session,
        chat::a_file_is_added_by_path_by_the_local_caller_only,
        chat::a_file_is_added_in_pieces,
        chat::an_upload_link_works_once_for_its_file,
        chat::pages_are_read_in_parts_that_join_to_the_text,
        chat::a_finding_is_corrected_rejected_and_deleted,
        chat::lists_and_results_have_pages,
        accounts::sessions_begin_and_end,
        accounts::cases_are_shared,
        checks::rules_test_insights_at_once,
        checks::large_tests_are_jobs,
        checks::a_model_judges_beside_the_rules,
        checks::a_test_reads_only_files_its_caller_may_read,
        checks::all_insights_are_tested_in_parts,
        open_input::what_the_contract_leaves_open_is_answered,
        accounts::cases_are_listed_with_their_contents,
        tasks::tasks_are_followed_to_their_end,
        tasks::a_task_is_cancelled_on_the_way,
        tasks::tests_that_are_jobs_are_tasks,
    }
}
