import { verdict, type Figure } from "./figure.ts";
import type { Place } from "./place.ts";
import { postTestdrive, sitAtRelay, sitAtTcp, stopSession, untilLogin, type Seat, type Wire } from "./session.ts";
import { percentile } from "./statistics.ts";

const rounds = 10;
const tripsPerRound = 200;
const barMs = 2;

/** Round trips to one running machine through the relay, compared with direct ones to QEMU's TCP port. */
export async function measureRelay(place: Place): Promise<Figure[]> {
  const image = await place.image();
  const session = await postTestdrive(image);
  try {
    const [relay, direct] = [await sitAtRelay(session), await sitAtTcp(session)];
    await untilLogin(image, session);
    const { ours, against } = await alternate(relay, direct);
    for (const { viewer } of [relay, direct]) viewer.close();
    return figures(ours, against);
  } finally {
    await stopSession(image, session);
  }
}

function figures(ours: readonly number[], against: readonly number[]): Figure[] {
  return [0.5, 0.99].map((share) => {
    const [through, straight] = [percentile(ours, share), percentile(against, share)];
    const added = through - straight;
    const isBar = share === 0.5;
    return {
      what: `relay: round trip to QEMU, p${share * 100} of ${ours.length}`,
      ours: `${through.toFixed(2)} ms`,
      against: `${straight.toFixed(2)} ms`,
      ratio: `+${added.toFixed(2)} ms`,
      bar: isBar ? `≤ +${barMs} ms` : "reported",
      verdict: isBar ? verdict(added <= barMs) : "reported",
    };
  });
}

async function alternate(relay: Seat, direct: Seat) {
  const ours: number[] = [];
  const against: number[] = [];
  for (const seat of [relay, direct]) await trips(seat.wire, tripsPerRound);
  for (let round = 0; round < rounds; round++) {
    ours.push(...(await trips(relay.wire, tripsPerRound)));
    against.push(...(await trips(direct.wire, tripsPerRound)));
  }
  return { ours, against };
}

/** The durations of `count` round trips between a viewer and QEMU, in milliseconds. */
export async function trips(wire: Wire, count: number): Promise<number[]> {
  const took: number[] = [];
  for (let trip = 0; trip < count; trip++) {
    const sentAt = performance.now();
    await roundTrip(wire);
    took.push(performance.now() - sentAt);
  }
  return took;
}

const extendedKeys = -258;
const desktopSize = -223;

/**
 * QEMU immediately answers a SetEncodings that includes extended key events: it sends an update of one empty rectangle.
 * A request for a picture would not work, because QEMU draws up to 30 ms later.
 */
async function roundTrip(wire: Wire): Promise<void> {
  const request = Buffer.from([2, 0, 0, 1, 0, 0, 0, 0]);
  request.writeInt32BE(extendedKeys, 4);
  wire.write(request);
  // Before the first answer, QEMU may have sent a new screen size.
  while ((await readNotice(wire)) !== extendedKeys);
}

/** Reads an update of one rectangle without pixels, and returns its encoding. */
async function readNotice(wire: Wire): Promise<number> {
  const update = await wire.read(16);
  const encoding = update.readInt32BE(12);
  const isNotice = encoding === extendedKeys || encoding === desktopSize;
  if (update[0] === 0 && update.readUInt16BE(2) === 1 && isNotice) return encoding;
  throw new Error(`unexpected update from QEMU: ${update.toString("hex")}`);
}
