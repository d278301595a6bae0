import { type Command, command, flag } from "../command.ts";

/** The command that serves all others. They are a parameter, because the list of all commands includes this one. */
export const mcpFor = (commands: readonly Command[]) => [
  command("mcp", {
    summary: "Serve the commands to an assistant by the Model Context Protocol",
    details:
      "The assistant starts it, and talks to it over standard input and output. It gets the commands that read; with " +
      "--write also those that change appliances, start builds and delete. None of them takes the path of a file on this machine.",
    options: { write: flag("also offer the commands that change or delete something") },
    examples: ["claude mcp add kiln -- kiln mcp", "kiln mcp --write --url https://kiln.example.org"],
    act: async ({ url, login, note }, { write }) => {
      // Fails here if the user is not signed in, because only the assistant would see an error of a tool.
      void login;
      if (process.stdin.isTTY) note("It waits for an assistant on its standard input. Ctrl-C ends it.");
      const [{ serve }, { toolsFor }] = await Promise.all([import("../mcp/server.ts"), import("../mcp/tools.ts")]);
      await serve(toolsFor(commands, { mayWrite: write ? "yes" : "no", url }));
    },
  }),
];
