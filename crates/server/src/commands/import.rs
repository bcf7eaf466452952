use crate::cli::ImportCommand;
use crate::config::Config;
use crate::exit::Failure;
pub(crate) async fn run(_command: ImportCommand, _config: Config) -> Result<(), Failure> {
    Ok(())
}
