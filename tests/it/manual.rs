//! Manual pages, read by a program that knows what one may hold.

use crate::support::tools::found;
use crate::support::workspace::Workspace;

#[test]
fn every_page_is_a_good_one() {
    let Some(mandoc) = found("mandoc") else { return };
    let workspace = Workspace::with_files(&[]);
    let help = workspace.tflock(None, ["help", "--all"]).ended_with(0).stdout;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 20, "{help}");
    for command in std::iter::once(None).chain(commands.into_iter().map(Some)) {
        let page = workspace.tflock(None, ["man"].into_iter().chain(command)).ended_with(0).stdout;
        workspace.write("page.1", &page);
        let lint = workspace.program(&mandoc, None, ["-T", "lint", "-W", "warning", "page.1"]);
        // The pages bear no date: they are those of the program, not of a day.
        let wrong: Vec<&str> = lint.stdout.lines().filter(|line| !line.contains("date")).collect();
        assert_eq!(wrong, [""; 0], "{command:?}");
        let shown = workspace.program(&mandoc, None, ["-T", "html", "page.1"]).stdout;
        for heading in ["NAME", "EXIT STATUS", "ENVIRONMENT", "FILES"] {
            assert!(shown.contains(&format!("id=\"{}\"", heading.replace(' ', "_"))), "{command:?}: {heading}");
        }
    }
}
