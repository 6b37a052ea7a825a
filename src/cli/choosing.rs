//! Lets the user choose from a list, on the terminal of standard error.

use dialoguer::MultiSelect;
use dialoguer::console::{Term, truncate_str};

use crate::interrupt::Interrupt;
use crate::report::printable;

/// What a terminal shows before each item.
const MARK: usize = 8;

/// The numbers of the chosen items; none if the user leaves. Fails after Ctrl-C.
pub(super) fn choose(prompt: &str, items: &[String], interrupt: &Interrupt) -> Result<Vec<usize>, crate::error::Error> {
    let term = Term::stderr();
    let room = usize::from(term.size().1).saturating_sub(MARK);
    // A line that continues below would not be removed when the list is drawn again.
    let items = items.iter().map(|item| truncate_str(&printable(item), room, "…").into_owned());
    let picked = MultiSelect::new().with_prompt(prompt).items(items).report(false).interact_on_opt(&term);
    picked.map(Option::unwrap_or_default).map_err(|_| {
        let _ = term.show_cursor();
        interrupt.error()
    })
}
