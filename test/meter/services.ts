import { sumOf, times, type Use } from "./meter.ts";
import { costOf, objectGb, operationsOfMessage, plan, prices, type Amount } from "./prices.ts";
import { names, type Name } from "./scenarios.ts";

/** A service of this size, with builds of ten minutes whose image and files have 600 MB. */
export interface Service {
  name: string;
  accounts: number;
  agents: number;
  buildsADay: number;
  /** The share of builds whose page stays open all the time. */
  watched: number;
  /** Each takes ten minutes. */
  testdrivesADay: number;
  pagesADay: number;
  callsADay: number;
  /** How long images are stored (`KEEP_IMAGES_DAYS`). */
  keepDays: number;
  /** The maximum cost in US dollars a month. */
  bar: number;
}

export const services: readonly Service[] = [
  {
    name: "hobby",
    accounts: 10,
    agents: 1,
    buildsADay: 20,
    watched: 0.5,
    testdrivesADay: 10,
    pagesADay: 500,
    callsADay: 500,
    keepDays: 365,
    bar: 10,
  },
  {
    name: "team",
    accounts: 100,
    agents: 20,
    buildsADay: 500,
    watched: 0.3,
    testdrivesADay: 100,
    pagesADay: 10_000,
    callsADay: 100_000,
    keepDays: 30,
    bar: 40,
  },
  {
    name: "large",
    accounts: 100_000,
    agents: 1000,
    buildsADay: 20_000,
    watched: 0.2,
    testdrivesADay: 4000,
    pagesADay: 500_000,
    callsADay: 2_000_000,
    keepDays: 30,
    bar: 6700,
  },
];

const days = 30;
const buildMinutes = 10;
const driveMinutes = 10;
/**
 * The time for which an object is billed per call, which is much longer than the calls take. Between calls, the object
 * may hibernate, and is not billed (durable-objects/concepts/durable-object-lifecycle).
 */
const secondsACall = 0.1;
const imageGb = 0.6;
/** 600 MB in parts of 16 MiB. The measured end of a build already includes the three smallest parts. */
const moreParts = 36 - 3;
const quotaGb = 20;
/** Packages and repositories. */
const otherGb = 50;

export type Measured = Readonly<Record<Name, Use>>;

export interface Month {
  amounts: Readonly<Record<Amount, number>>;
  /** Queries to D1 a second, on average. */
  queries: number;
  usd: Readonly<Record<Amount, number>>;
  sum: number;
}

/** The monthly use and price of a service. */
export function monthOf(service: Service, measured: Measured): Month {
  const use = useOf(service, measured);
  const { buildsADay, testdrivesADay, keepDays, accounts } = service;
  // Viewers of a screen keep an object awake.
  const minutesAwake = days * testdrivesADay * driveMinutes;
  const amounts = {
    ...use,
    awake: (minutesAwake * 60 + use.calls * secondsACall) * objectGb,
    stored: Math.min(buildsADay * keepDays * imageGb, accounts * quotaGb) + otherGb,
    queueOperations: use.messages * operationsOfMessage,
  };
  const usd = perAmount((of) => costOf(of, amounts[of]));
  const sum = Object.values(usd).reduce((total, each) => total + each, plan);
  return { amounts: perAmount((of) => amounts[of]), queries: use.queries / (days * 24 * 3600), usd, sum };
}

/** The sum of everything that happens in a month. */
function useOf(service: Service, measured: Measured): Use {
  const { agents, buildsADay, watched, testdrivesADay, pagesADay, callsADay, keepDays } = service;
  const builds = days * buildsADay;
  const minutes = builds * buildMinutes;
  const done: [Use, number][] = [
    [measured.idle, agents * days * 24 * 60],
    [measured.sweep, days * 24 * 60],
    ...(["start", "claim", "end"] as const).map((name): [Use, number] => [measured[name], builds]),
    [measured.part, builds * moreParts],
    [measured.wake, builds],
    // One agent is woken for a build, and gets it. Afterwards it looks for the next build. Another agent may have
    // received the queue's message.
    [measured.nothing, builds * 2],
    [measured.minute, minutes * (1 - watched)],
    [measured.watched, minutes * watched],
    [measured.drive, days * testdrivesADay],
    [measured.driveMinute, days * testdrivesADay * driveMinutes],
    // An upper bound: each stored image, each day.
    [measured.recount, days * buildsADay * keepDays],
    [averageOf(measured, "page"), days * pagesADay],
    [averageOf(measured, "API"), days * callsADay],
  ];
  return sumOf(done.map(([use, n]) => times(use, n)));
}

/** The average over all pages, or over all calls of the API. */
function averageOf(measured: Measured, kind: "page" | "API"): Use {
  const found = Object.entries(names).flatMap(([name, words]) => (words.startsWith(`${kind}:`) ? [name] : []));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the names
  return times(sumOf(found.map((name) => measured[name as Name])), 1 / found.length);
}

const perAmount = (each: (of: Amount) => number) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys are those of the prices
  Object.fromEntries((Object.keys(prices) as Amount[]).map((of) => [of, each(of)])) as Record<Amount, number>;
