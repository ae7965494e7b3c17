#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>

#include "jobs/cli/exit_codes.h"
#include "jobs/cli/verbs.h"

namespace weir {
namespace {

// Verbs that are decided on and not built: refused in one sentence, and not in --help.
const char* const kLaterVerbs[] = {"table", "savepoint", "query"};

CLI::Option* AddOverrides(CLI::App* app, std::vector<std::string>& overrides) {
  return app->add_option("--set", overrides, "Change a value of the job file: a.b=c; may be repeated")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false)
      ->take_all();
}

CLI::Option* AddFormat(CLI::App* app, TextFormat& format, bool dot) {
  const auto read = [&format, dot](const std::string& word) {
    if (word == "text") {
      format = TextFormat::kText;
    } else if (word == "json") {
      format = TextFormat::kJson;
    } else if (word == "dot" && dot) {
      format = TextFormat::kDot;
    } else {
      throw CLI::ValidationError("--format", fmt::format("'{}' is none of text, json{}", word, dot ? ", dot" : ""));
    }
  };
  return app->add_option_function<std::string>("--format", read, "How to print")
      ->type_name(dot ? "text|json|dot" : "text|json");
}

// CLI11's own check of a number prints the largest double there is.
CLI::Option* AddCount(CLI::App* app, const char* name, int64_t& count, int64_t min, const char* help) {
  const auto check = [min](const std::string& text) -> std::string {
    int64_t value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= min) return {};
    return fmt::format("'{}' is not a whole number of at least {}", text, min);
  };
  return app->add_option(name, count, help)->check(CLI::Validator(check, ""));
}

class CommandLine {
 public:
  CommandLine() {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", WEIR_VERSION);
    AddRun();
    AddCompare();
    AddCheck();
    AddExplain();
    AddCheckpoints();
    AddGenerate();
    AddExample();
  }

  int Parse(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app_.exit(error) == 0 ? kExitDone : kExitWrong;
    }
    if (*run_command_) return Run(run_);
    if (*compare_command_) return CompareJobs(compare_);
    if (*check_command_) return Check(check_);
    if (*explain_command_) return Explain(explain_);
    if (*list_command_) return ListCheckpointsOf(checkpoints_);
    if (*show_command_) return ShowCheckpoint(checkpoints_);
    if (*generate_command_) return Generate(generate_);
    return Example(example_);
  }

 private:
  void AddRun() {
    run_command_ = app_.add_subcommand("run", "Run a job; it goes on from its last checkpoint by itself");
    run_command_->add_option("JOB", run_.job, "The job file")->required();
    run_command_->add_option("--state-dir", run_.state_dir, "Where checkpoints are kept; default .weir/NAME");
    AddOverrides(run_command_, run_.overrides);
    run_command_->add_option("--summary", run_.summary, "Write what the run cost as JSON")->type_name("FILE");
    run_command_->add_option("--replay", run_.replay, "Feed every source from this file, in exactly its order")
        ->type_name("FILE");
    run_command_->add_option("--replay-batch", run_.replay_batch, "Lines of the replay file delivered at a time")
        ->check(CLI::Range(int64_t{1}, int64_t{1} << 30))
        ->type_name("N");
    run_command_->add_flag("--force", run_.force, "A new state dir may replace the parts that its file sinks find");
    // An empty group keeps an option out of --help.
    run_command_->add_option("--sinks-into", run_.sinks.folder, "Every sink writes files below this folder")->group("");
    run_command_->add_option("--topic-suffix", run_.sinks.topic_suffix, "Kafka sinks stay and write to TOPIC + this")
        ->group("");
    run_command_->add_option("--kill-at", run_.kill_at, "SIGKILL after N records and a checkpoint")->group("");
  }

  void AddCompare() {
    compare_command_ = app_.add_subcommand("compare", "Run variants of a job side by side and say what each costs");
    // Two positionals, so that the help names them; both go to one list.
    const auto take = [this](const std::string& job) { compare_.jobs.push_back(job); };
    compare_command_->add_option_function<std::string>("JOB", take, "A job file")->required();
    compare_command_->add_option_function<std::string>("JOB2", take, "Another that it is compared with");
    compare_command_->add_option("--variants", compare_.variants, "regular-memory, regular-rocksdb, delta; default all")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("A,B,...");
    AddOverrides(compare_command_, compare_.overrides);
    compare_command_->add_option("--sweep", compare_.sweep, "Compare for each value of a key of the job file")
        ->type_name("PATH=V1,V2,...");
    compare_command_->add_option("--json", compare_.json, "Write the comparison as JSON")->type_name("FILE");
    compare_command_->add_option("--report", compare_.report, "Write the comparison as a page")->type_name("FILE.html");
    compare_command_->add_option("--dir", compare_.dir, "Where results go, and stay; default a temporary folder");
    compare_command_->add_flag("--keep-sinks", compare_.keep_sinks, "Kafka sinks write to TOPIC-VARIANT");
  }

  void AddCheck() {
    check_command_ = app_.add_subcommand("check", "Say every error of job files, or nothing");
    check_command_->add_option("JOB", check_.jobs, "Job files")->required();
    AddOverrides(check_command_, check_.overrides);
  }

  void AddExplain() {
    explain_command_ = app_.add_subcommand("explain", "Print the plan of a job");
    explain_command_->add_option("JOB", explain_.job, "The job file")->required();
    AddOverrides(explain_command_, explain_.overrides);
    AddFormat(explain_command_, explain_.format, true);
  }

  void AddCheckpoints() {
    CLI::App* checkpoints = app_.add_subcommand("checkpoints", "Look into a state dir");
    checkpoints->require_subcommand(1);
    list_command_ = checkpoints->add_subcommand("list", "A line a checkpoint");
    show_command_ = checkpoints->add_subcommand("show", "One checkpoint: positions, state, times");
    for (CLI::App* command : {list_command_, show_command_}) {
      command->add_option("STATE_DIR", checkpoints_.state_dir, "The state dir of a job")->required();
      AddFormat(command, checkpoints_.format, false);
    }
    show_command_->add_option("N", checkpoints_.epoch, "Its number; default the newest");
  }

  void AddGenerate() {
    generate_command_ = app_.add_subcommand("generate", "Make rows to try jobs on, the same for the same seed");
    generate_command_->add_option("KIND", generate_.kind, "orders | visits | behaviour | nexmark")->required();
    AddCount(generate_command_, "--rows", generate_.rows, 0, "How many");
    generate_command_->add_option("--seed", generate_.seed, "Seed");
    AddCount(generate_command_, "--users", generate_.users, 1, "Different users");
    AddCount(generate_command_, "--days", generate_.days, 1, "Days that the rows cover");
    generate_command_->add_option("--out", generate_.folder, "Write DIR/KIND.jsonl")->type_name("DIR");
    generate_command_->add_option("--kafka", generate_.brokers, "Send to a topic")->type_name("BROKERS");
    generate_command_->add_option("--topic", generate_.topic, "The topic; default KIND")->type_name("TOPIC");
    generate_command_->add_option("--connect-timeout", generate_.connect_timeout, "How long to wait for a broker")
        ->type_name("DURATION");
  }

  void AddExample() {
    example_command_ = app_.add_subcommand("example", "List example jobs, or print one");
    example_command_->add_option("NAME", example_, "Which one to print");
  }

  CLI::App app_{"weir: stream processing whose checkpoints stay small", "weir"};
  CLI::App* run_command_ = nullptr;
  CLI::App* compare_command_ = nullptr;
  CLI::App* check_command_ = nullptr;
  CLI::App* explain_command_ = nullptr;
  CLI::App* list_command_ = nullptr;
  CLI::App* show_command_ = nullptr;
  CLI::App* generate_command_ = nullptr;
  CLI::App* example_command_ = nullptr;
  RunVerb run_;
  CompareVerb compare_;
  CheckVerb check_;
  ExplainVerb explain_;
  CheckpointsVerb checkpoints_;
  GenerateVerb generate_;
  std::string example_;
};

}  // namespace

int RunCommandLine(int argc, char** argv) {
  // A reader that has gone (weir ... | head) is an error of the write, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  const std::string verb = argc > 1 ? argv[1] : "";
  if (std::find(std::begin(kLaterVerbs), std::end(kLaterVerbs), verb) != std::end(kLaterVerbs)) {
    return Fail(ConfigError(fmt::format("weir {} is not in this version yet", verb)));
  }
  try {
    return CommandLine().Parse(argc, argv);
  } catch (const std::exception& error) {
    return Fail(Error{ErrorCode::kBug, fmt::format("bug in weir: {}", error.what()), {}});
  }
}

}  // namespace weir
