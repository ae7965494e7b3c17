#include "jobs/cli/verbs.h"

int main(int argc, char** argv) { return weir::RunCommandLine(argc, argv); }
