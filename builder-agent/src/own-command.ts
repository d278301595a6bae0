/** Set by the program of a release's package (packaging/kiln-agent). There, npm and its scripts do not exist. */
const isPackaged = process.env["KILN_AGENT_PACKAGED"] === "yes";

/** A command of this agent as the operator of this host must type it. @param rest its arguments */
export function ownCommand(command: "run" | "doctor" | "root" | "rebuild", rest = ""): string {
  if (isPackaged) return `kiln-agent ${command} ${rest}`.trim();
  const script = command === "doctor" ? "doctor" : "agent";
  const words = `${command === "doctor" || command === "run" ? "" : command} ${rest}`.trim();
  return words === "" ? `npm run ${script}` : `npm run ${script} -- ${words}`;
}
