use super::*;

#[test]
fn rows_are_sorted_and_single() {
    let names: Vec<&str> = TABLE.iter().map(|function| function.name).collect();
    assert!(names.is_sorted_by(|one, other| one < other));
}
