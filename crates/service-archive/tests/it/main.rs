//! The archive as a whole: its service behind the pipeline, real databases, and a real child
//! process for every file. The tests start themselves as the child, so there is a main here that
//! speaks the test runner's few words.
#![expect(clippy::print_stdout, clippy::unwrap_used, clippy::panic, reason = "this is a test")]

mod accounts;
mod checks;
mod flow;
mod tasks;
mod trouble;
mod uploads;
mod world;

use std::process::ExitCode;

const TESTS: &[(&str, fn())] = &[
    ("a_file_goes_all_the_way", flow::a_file_goes_all_the_way),
    ("processing_again_replaces_what_processing_made", flow::processing_again_replaces),
    ("a_message_is_read_with_its_attachments", flow::a_message_is_read_with_its_attachments),
    ("deep_processing_compares_files_and_asks_a_model", flow::deep_compares_and_summarises),
    ("modes_differ_as_they_say", flow::modes_differ),
    ("queries_keep_to_their_filters", flow::queries_keep_to_their_filters),
    ("an_export_is_one_document", flow::an_export_is_one_document),
    ("a_file_that_cannot_be_read_says_why", trouble::unreadable_files),
    ("a_running_job_is_cancelled", trouble::a_running_job_is_cancelled),
    ("what_is_not_there_or_not_yours", trouble::not_there_or_not_yours),
    ("wrong_input_is_named", trouble::wrong_input_is_named),
    ("a_deleted_file_is_gone", trouble::a_deleted_file_is_gone),
    ("words_of_a_deleted_file_are_nowhere", trouble::words_of_a_deleted_file_are_nowhere),
    ("nobody_waits_for_all_files_of_another", trouble::nobody_waits_for_all_files_of_another),
    ("uploads_are_whole_or_nothing", uploads::whole_or_nothing),
    ("uploads_tell_how_far_they_are", uploads::progress),
    ("an_upload_ends_with_its_session", uploads::ended_sessions),
    ("sessions_begin_and_end", accounts::sessions_begin_and_end),
    ("cases_are_shared", accounts::cases_are_shared),
    ("rules_test_insights_at_once", checks::rules_at_once),
    ("large_tests_are_jobs", checks::large_tests_are_jobs),
    ("a_model_judges_beside_the_rules", checks::a_model_judges_beside_the_rules),
    ("a_test_reads_only_what_its_caller_may", checks::reads_only_what_the_caller_may),
    ("tasks_are_followed_to_their_end", tasks::followed_to_their_end),
    ("a_task_is_cancelled_on_the_way", tasks::cancelled_on_the_way),
    ("tests_that_are_jobs_are_tasks", tasks::tests_that_are_jobs),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| arguments.iter().any(|it| it == word);
    match arguments.first().map(String::as_str) {
        Some("worker") => return archive_extract::worker_main(std::io::stdin(), std::io::stdout()),
        Some("hang") => loop {
            std::thread::park();
        },
        _ => {}
    }
    if has("--list") {
        for (name, _) in TESTS.iter().filter(|_| !has("--ignored")) {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let named: Vec<&String> = arguments.iter().filter(|it| !it.starts_with("--")).collect();
    let chosen = |name: &str| {
        let fits = |it: &&String| if has("--exact") { *it == name } else { name.contains(*it) };
        named.is_empty() || named.iter().any(fits)
    };
    for (name, test) in TESTS.iter().filter(|(name, _)| chosen(name)) {
        test();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}
