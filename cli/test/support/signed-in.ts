import { newMachine, type Machine } from "./machine.ts";
import { newKey, signedInto, standIn, type StandIn } from "./service.ts";

/** A machine whose command line is signed in to a service with these answers. */
export async function signedInMachine(
  answers: StandIn["answers"] = {},
): Promise<{ machine: Machine; service: StandIn }> {
  const machine = newMachine();
  const service = await standIn({ ...signedInto(newKey()), ...answers });
  await machine.kiln(["login", service.url, "--account", "tux"], { input: "key\n" });
  return { machine, service };
}
