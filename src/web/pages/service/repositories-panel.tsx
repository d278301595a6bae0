import type { Child } from "hono/jsx";
import type { Repository } from "#storage/repositories";
import { ActionButton } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Panel } from "../../parts/panel.tsx";
import { State } from "../../parts/state.tsx";
import { counted } from "../../parts/words.ts";
import { servicePath } from "./service-page.tsx";

interface RepositoriesPanelProps {
  catalogues: readonly { name: string; repositories: readonly Repository[] }[];
  /** The accounts' repositories that have a problem. */
  failing: readonly (Repository & { username: string })[];
}

/** The catalogues, and every repository that has a problem. */
export const RepositoriesPanel = ({ catalogues, failing }: RepositoriesPanelProps) => {
  const known = catalogues.flatMap(({ name, repositories }) => repositories.map((each) => ({ ...each, of: name })));
  const all = [...known, ...failing.map((each) => ({ ...each, of: each.username }))];
  const good = known.filter(({ problem, importState }) => problem === null && importState === "ready").length;
  return (
    <Panel id="repositories" title="Catalogues" count={catalogues.length} isFlush>
      <ul class="rows tight">
        {catalogues.map(({ name, repositories }) => (
          <Line>
            <Icon name="layers" />
            <span class="grow">{name}</span>
            <span class="quiet num">{counted(repositories.length, "repository", "repositories")}</span>
          </Line>
        ))}
        <Line>
          <State tone="good">{counted(good, "repository is", "repositories are")} up to date</State>
        </Line>
        {known
          .filter(({ importState }) => importState === "importing")
          .map(({ name }) => (
            <Line>
              <State icon="clock">{name} is being imported</State>
            </Line>
          ))}
        {all
          .filter(({ problem }) => problem !== null)
          .map((repository) => (
            <Trouble repository={repository} of={repository.of} />
          ))}
      </ul>
    </Panel>
  );
};

const Line = ({ children }: { children: Child }) => (
  <li>
    <div class="line">{children}</div>
  </li>
);

const Trouble = ({
  repository: { id, url, problem, checkedAt },
  of: owner,
}: {
  repository: Repository;
  of: string;
}) => (
  <Line>
    <State tone="warn">
      <span class="hidden">Problem: </span>
    </State>
    <span class="grow breaks">
      {url} <span class="quiet">of {owner}</span>
      <br />
      <span class="quiet">
        {problem} {checkedAt && <Moment at={checkedAt} />}
      </span>
    </span>
    <ActionButton action={`${servicePath}/repositories/${id}/import`} look="small" icon="refresh-cw" about={url}>
      Try now
    </ActionButton>
  </Line>
);
