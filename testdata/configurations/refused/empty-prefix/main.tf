resource "_x" "y" {
}
