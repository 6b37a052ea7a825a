resource "second_x" "y" {
}
