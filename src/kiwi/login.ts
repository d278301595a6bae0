import type { ImageFacts } from "#kiwi/facts";
import { linesOf, staging, type Part } from "#kiwi/part";
import { shellCommand } from "#kiwi/shell-quote";

/** What the system starts into, and whom its screen logs in by itself. */
export function loginPart({ settings: { runlevel, automaticLogin } }: Pick<ImageFacts, "settings">): Part {
  const target = shellCommand("set_runlevel", String(runlevel), targets[runlevel] ?? "multi-user.target");
  if (automaticLogin === "") return { commands: [target] };
  return {
    files: {
      [`${staging}/autologin.conf`]: gettyOf(automaticLogin),
      [`${staging}/autologin`]: `#!/bin/sh\nexec login -f ${automaticLogin}\n`,
    },
    commands: [target, shellCommand("set_automatic_login", automaticLogin)],
  };
}

/** runlevel(8) of systemd; 4 is nobody's. */
const targets: Readonly<Record<number, string>> = {
  1: "rescue.target",
  2: "multi-user.target",
  3: "multi-user.target",
  4: "multi-user.target",
  5: "graphical.target",
};

/** The empty one takes away the command of the unit itself. */
const gettyOf = (user: string) =>
  linesOf("[Service]", "ExecStart=", `ExecStart=-/sbin/agetty --autologin ${user} --noclear %I $TERM`);
