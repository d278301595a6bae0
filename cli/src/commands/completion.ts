import { command } from "../command.ts";
import { Complaint } from "../complaint.ts";
import { scripts } from "../completion/scripts.ts";

export const completion = [
  command("completion <shell>", {
    summary: "Print a completion script for bash, zsh or fish",
    details: "It completes commands, options, and the ids, names, packages and settings that the service has.",
    examples: [
      "source <(kiln completion bash)   # in ~/.bashrc",
      "source <(kiln completion zsh)    # in ~/.zshrc, after compinit",
      "kiln completion fish | source    # in ~/.config/fish/config.fish",
    ],
    act: async ({ print }, { shell }) => {
      const script = scripts[shell];
      if (script === undefined)
        throw new Complaint("misused", `There is no completion for ${shell}.`, "There is one for bash, zsh and fish.");
      print(script.trimEnd());
    },
  }),
];
