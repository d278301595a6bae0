import { afterEach, beforeEach } from "vitest";
import { newMachine, type Machine } from "./machine.ts";
import { newKey, signedInto, standIn, type StandIn } from "./service.ts";

interface SignedIn {
  machine: Machine;
  service: StandIn;
}

/** A machine whose command line is signed in to a service with these answers. */
export async function signedInMachine(answers: StandIn["answers"] = {}): Promise<SignedIn> {
  const machine = newMachine();
  const service = await standIn({ ...signedInto(newKey()), ...answers });
  await machine.kiln(["login", service.url, "--account", "tux"], { input: "key\n" });
  return { machine, service };
}

/** A new signed-in machine and its service for each test of a file. */
export function signedInForEachTest(): SignedIn {
  const signedIn = {} as SignedIn;
  beforeEach(async () => void Object.assign(signedIn, await signedInMachine()));
  afterEach(async () => {
    await signedIn.service[Symbol.asyncDispose]();
    signedIn.machine[Symbol.dispose]();
  });
  return signedIn;
}
