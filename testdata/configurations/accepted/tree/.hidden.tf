resource "hidden_x" "y" {
