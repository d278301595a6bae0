import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Figure } from "./figure.ts";
import type { BuiltImage, Place } from "./place.ts";
import { postTestdrive, sitAtRelay, stopSession, untilLogin, untilPicture } from "./session.ts";
import { spread } from "./statistics.ts";

/** Only a few, because an emulated boot is slow. */
const rounds = 2;

export interface Start {
  pictureSeconds: number;
  loginSeconds: number;
}

/**
 * The times from POST to the first picture and to the login prompt, for an image that the agent has to fetch, and for a
 * cached one.
 */
export async function measureBoot(place: Place): Promise<Figure[]> {
  const image = await place.image();
  const cold: Start[] = [];
  const cached: Start[] = [];
  for (let round = 1; round <= rounds; round++) {
    rmSync(join(image.service.stateDir, "agent/cache", image.buildId), { recursive: true, force: true });
    cold.push(await startOnce(image));
    cached.push(await startOnce(image));
    place.say(
      `round ${round}: login after ${cold.at(-1)?.loginSeconds.toFixed(1)} s and ${cached.at(-1)?.loginSeconds.toFixed(1)} s`,
    );
  }
  return [...figuresOf("image fetched, booted", cold), ...figuresOf("image cached, booted", cached)];
}

/** Runs one session from its POST to its login prompt, and ends it. */
export async function startOnce(image: BuiltImage): Promise<Start> {
  const askedAt = performance.now();
  const since = () => (performance.now() - askedAt) / 1000;
  const session = await postTestdrive(image);
  const { viewer } = await sitAtRelay(session);
  await untilPicture(viewer);
  const pictureSeconds = since();
  await untilLogin(image, session);
  // The prompt counts only after its picture has arrived.
  await viewer.frame();
  const loginSeconds = since();
  viewer.close();
  await stopSession(image, session);
  return { pictureSeconds, loginSeconds };
}

export function figuresOf(how: string, starts: readonly Start[]): Figure[] {
  const rest = { against: "–", ratio: "", bar: "reported", verdict: "reported" } as const;
  const pictures = starts.map(({ pictureSeconds }) => pictureSeconds);
  const logins = starts.map(({ loginSeconds }) => loginSeconds);
  return [
    { what: `testdrive, ${how}: POST → first picture`, ours: spread(pictures, 2, " s"), ...rest },
    { what: `testdrive, ${how}: POST → login:`, ours: spread(logins, 2, " s"), ...rest },
  ];
}
