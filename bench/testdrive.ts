import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDrives } from "../builder-agent/src/testdrive/disk.ts";
import { vncSocket } from "../builder-agent/src/testdrive/qemu.ts";
import { makeSessionDir } from "../builder-agent/src/testdrive/session-dir.ts";
import { verdict, type Figure } from "./figure.ts";
import { measureBoot } from "./testdrive-boot.ts";
import { measureSnapshot } from "./testdrive-snapshot.ts";
import type { BuiltImage, Place } from "./place.ts";
import {
  postTestdrive,
  qemuCommand,
  sitAtRelay,
  sitAtSocket,
  stopSession,
  untilPicture,
  type Session,
} from "./session.ts";
import { median, spread } from "./statistics.ts";

const rounds = 5;
const barSeconds = 1;

/** Start times of testdrives: first picture and login prompt, booted or from a snapshot, alone and in parallel. */
export async function measureTestdrive(place: Place): Promise<Figure[]> {
  const picture = await measurePicture(place);
  return [...picture, ...(await measureBoot(place)), ...(await measureSnapshot(place))];
}

/** The time from POST to a picture through the relay, compared with the same QEMU started by hand. */
async function measurePicture(place: Place): Promise<Figure[]> {
  const image = await place.image();
  const folder = place.folder();
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    const { seconds, session, command } = await driveOurs(image);
    ours.push(seconds);
    bare.push(await driveBare({ image, folder, session, command }));
    place.say(`round ${round}: ${seconds.toFixed(2)} s and ${bare.at(-1)?.toFixed(2)} s`);
  }
  const added = median(ours) - median(bare);
  return [
    {
      what: "testdrive: POST → first picture through the relay",
      ours: spread(ours, 2, " s"),
      against: spread(bare, 2, " s"),
      ratio: `${added < 0 ? "" : "+"}${added.toFixed(2)} s`,
      bar: `≤ +${barSeconds.toFixed(1)} s`,
      verdict: verdict(added <= barSeconds),
    },
  ];
}

type Command = ReturnType<typeof qemuCommand>;

async function driveOurs(image: BuiltImage): Promise<{ seconds: number; session: Session; command: Command }> {
  const askedAt = performance.now();
  const session = await postTestdrive(image);
  const { viewer } = await sitAtRelay(session);
  await untilPicture(viewer);
  const seconds = (performance.now() - askedAt) / 1000;
  const command = qemuCommand(image, session);
  viewer.close();
  await stopSession(image, session);
  return { seconds, session, command };
}

type Bare = { image: BuiltImage; folder: string; session: Session; command: Command };

/** Starts QEMU with the same arguments and files: an overlay on the same image, and the same password. */
async function driveBare({ image, folder, session, command }: Bare): Promise<number> {
  await using dir = await makeSessionDir(folder, Number(session.id));
  const [path] = globSync(join(image.service.stateDir, "agent/cache", image.buildId, "*.raw"));
  if (path === undefined) throw new Error("the agent has not cached the image that it built");
  const drive = { image: { path, format: "raw", ...unheld }, imageType: "oem" } as const;
  await makeDrives(drive, dir, AbortSignal.timeout(10_000));
  writeFileSync(dir.file("vnc.password"), session.server.vnc.password, { mode: 0o600 });

  const startedAt = performance.now();
  const qemu = spawn(command.program, command.args, { cwd: dir.path, stdio: ["ignore", "ignore", "inherit"] });
  const gone = once(qemu, "exit");
  try {
    // Uses the socket, because the session's TCP port is not reachable: in its sandbox, QEMU has its own loopback.
    const { viewer } = await sitAtSocket(dir.socket(vncSocket));
    await untilPicture(viewer);
    viewer.close();
    return (performance.now() - startedAt) / 1000;
  } finally {
    qemu.kill("SIGKILL");
    await gone;
  }
}

/** This image is not in a cache, so there is nothing to release. */
const unheld = { release: () => {}, [Symbol.dispose]: () => {} };
