import type { Context } from "hono";
import { pathId } from "#http/params";
import { getRunningBuild } from "#domain/builds/build";
import {
  linesPerPage,
  logViews,
  pageOfLine,
  readLogPage,
  type LogLine,
  type LogPage,
  type LogQuestion,
  type LogView,
} from "#domain/builds/log-page";
import { wordsOf } from "#domain/builds/log-lines";
import { Refusal } from "#domain/refusal";
import { isUnfinished, type Build } from "#storage/builds";
import type { WebEnv } from "../../../factory.ts";
import { Button, CopyButton } from "../../../parts/button.tsx";
import { Content } from "../../../parts/column.tsx";
import { Pager, pageIn } from "../../../parts/pager.tsx";
import { number } from "../../../parts/words.ts";
import { appliancePage } from "../appliance-page.tsx";
import { logAt, nameOf } from "./names.ts";
import { stageWords } from "./stages.tsx";

const viewWords: Readonly<Record<LogView, string>> = {
  steps: "Without details",
  all: "All lines",
  findings: "Warnings and errors",
};

/** The log of a build, in pages and with a search. `?line=120#L120` shows a line among those around it. */
export async function showLog(c: Context<WebEnv>): Promise<Response> {
  const { db, account, appliance } = c.var;
  const build = await getRunningBuild(db, account.id, pathId(c, "build", "invalid_running_build_id"));
  if (build.applianceId !== appliance.id) throw new Refusal("invalid_running_build_id", { reason: "unknown" });
  const question = questionOf(c.req.query());
  const log = await readLogPage(c.env, build, question);
  return await appliancePage(c, <LogOf build={build} log={log} question={question} />, {
    tab: "build",
    title: `Log of ${nameOf(build)}`,
    refreshSeconds: isUnfinished(build) ? 10 : undefined,
    refreshIds: "status tab-build log-lines log-stages findings",
  });
}

function questionOf(query: Record<string, string | undefined>): LogQuestion {
  const { view = "", search = "", page, line } = query;
  if (line !== undefined) return { view: "all", search: "", page: pageOfLine(pageIn(line)) };
  return { view: logViews.find((one) => one === view) ?? "steps", search: search.slice(0, 200), page: pageIn(page) };
}

interface LogOfProps {
  build: Build;
  log: LogPage;
  question: LogQuestion;
}

const LogOf = ({ build, log, question }: LogOfProps) => (
  <Content look="stack">
    <section class="panel flush log-panel" id="log-panel" aria-labelledby="log-title">
      <div class="head">
        <h2 id="log-title">Log of {nameOf(build)}</h2>
        <a class="hint" href={`/builds/${build.id}/log`}>
          The whole log as text
        </a>
      </div>
      <LogStages build={build} log={log} />
      <Tools build={build} question={question} />
      <Findings build={build} findings={log.findings} />
      <Lines build={build} log={log} question={question} />
    </section>
    <Pager page={question.page} pages={log.pages} at={(page) => addressOf(build, { ...question, page })} />
    {log.isCut && <p class="quiet">Only the beginning is shown here. The text has all of it.</p>}
  </Content>
);

const addressOf = (build: Build, { view, search, page }: LogQuestion): string =>
  `${logAt(build)}?${new URLSearchParams({ view, search, page: String(page) })}`;

const lineAt = (build: Build, line: number): string => `${logAt(build)}?line=${line}#L${line}`;

/** Links to where each stage begins. */
const LogStages = ({ build, log: { phases } }: Pick<LogOfProps, "build" | "log">) => (
  <ul class="row small-text log-stages" id="log-stages" aria-label="Stages">
    {phases.map(({ phase, line }) => (
      <li>
        <a href={lineAt(build, line)}>{stageWords[phase]}</a>
      </li>
    ))}
  </ul>
);

/** Wrapping needs no script, because the style sheet can see whether the box is checked. */
const Tools = ({ build, question: { view, search } }: Pick<LogOfProps, "build" | "question">) => (
  <form class="row log-tools" role="search" action={logAt(build)}>
    <label class="hidden" for="log-view">
      Which lines
    </label>
    <select class="input auto" id="log-view" name="view">
      {logViews.map((one) => (
        <option value={one} selected={one === view}>
          {viewWords[one]}
        </option>
      ))}
    </select>
    <label class="hidden" for="log-search">
      Search the log
    </label>
    <input class="input grow" type="search" id="log-search" name="search" value={search} placeholder="Search the log" />
    <Button icon="search">Show</Button>
    <label class="choice">
      <input type="checkbox" class="wraps" /> <span>Wrap</span>
    </label>
    <CopyButton of="log-lines" words="Copy" look="" />
    <FullScreen of="log-panel" />
  </form>
);

/** Fills the screen with an element. It needs a script, and is hidden without one. */
export const FullScreen = ({ of: id }: { of: string }) => (
  <button class="button" type="button" data-fullscreen={id} hidden>
    Full screen
  </button>
);

const Findings = ({ build, findings }: { build: Build; findings: readonly LogLine[] }) => (
  <ul class="findings small-text" id="findings">
    {findings.map(({ number: line, text, tone }) => (
      <li data-tone={tone}>
        <a href={lineAt(build, line)}>Line {line}</a> {wordsOf(text)}
      </li>
    ))}
  </ul>
);

const Lines = ({ build, log, question }: LogOfProps) => (
  <div class="log whole" role="group" tabindex={0} aria-label={`Lines of the log, ${countOf(log, question)}`}>
    {log.lines.length === 0 && <p class="quiet">{log.total === 0 ? "No lines yet." : "No such line."}</p>}
    <ol id="log-lines">
      {log.lines.map(({ number: line, text, tone }) => (
        <li id={`L${line}`} data-tone={tone}>
          <a href={lineAt(build, line)} data-line={String(line)} aria-label={`Line ${line}`} tabindex={-1} />
          <span>{`${text}\n`}</span>
        </li>
      ))}
    </ol>
  </div>
);

const countOf = ({ matches, total }: LogPage, { page }: LogQuestion): string =>
  matches === 0 ? `none of ${number(total)}` : `${(page - 1) * linesPerPage + 1} and following of ${number(matches)}`;
