//! Prints the citations of texts as JSON, one list for each text of the list on standard input.
//!
//! `echo '["See Roe v. Wade, 410 U.S. 113 (1973)."]' | cargo run -p cite --example find --features serde`

#![expect(clippy::print_stdout, reason = "an example talks to a terminal")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let texts: Vec<String> = serde_json::from_reader(std::io::stdin().lock())?;
    let lists: Vec<_> = texts.iter().map(|it| cite::find(it)).collect();
    println!("{}", serde_json::to_string(&lists)?);
    Ok(())
}
