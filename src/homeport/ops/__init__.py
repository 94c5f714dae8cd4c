"""One function per verb of the user, a file per noun. Command line and console only show what these return."""
