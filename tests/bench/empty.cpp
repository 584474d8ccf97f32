// Nothing, linked to the libraries that simgrad is linked to: what the system takes to start such a program.
int main() { return 0; }
