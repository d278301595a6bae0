import type { ImageFacts } from "#lib/kiwi/facts";
import { argumentsOf, type Own } from "#lib/kiwi/import/own";
import { linesOf, staging, type Part } from "#lib/kiwi/part";
import { shellQuote } from "#lib/contract/shell-quote";
import { shellCommand } from "#lib/kiwi/shell";

/** Sets the runlevel, and the user who is logged in automatically at the screen. */
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

/** Reports users who cannot log in. It comes after the overlay files and the build script, which may add a shell. */
export const shellsPart = ({ users }: Pick<ImageFacts, "users">): Part => ({
  commands: users.map(({ name, shell }) => {
    const text = `the image has no program ${shell}, the shell of ${name}, who cannot log in`;
    return `[ -x ${shellQuote(shell)} ] || note ${shellQuote(text)}`;
  }),
});

/** The targets as in systemd's runlevel(8). Runlevel 4 has no separate meaning. */
const targets: Readonly<Record<number, string>> = {
  1: "rescue.target",
  2: "multi-user.target",
  3: "multi-user.target",
  4: "multi-user.target",
  5: "graphical.target",
};

/** The empty `ExecStart=` removes the unit's own command. */
const gettyOf = (user: string) =>
  linesOf("[Service]", "ExecStart=", `ExecStart=-/sbin/agetty --autologin ${user} --noclear %I $TERM`);

export const readLogin = ({ commands }: Own) => ({
  runlevel: Number(argumentsOf(commands, "set_runlevel")[0]?.[0] ?? 3),
  automatic_login: argumentsOf(commands, "set_automatic_login")[0]?.[0] ?? "",
});
