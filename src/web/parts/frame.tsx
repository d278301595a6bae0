import type { Child } from "hono/jsx";
import type { Person } from "../factory.ts";
import type { Result } from "../result.ts";
import { signInTo } from "../session.ts";
import { preferencesPath, themes, type Theme } from "../theme.ts";
import { Brand } from "./brand.tsx";
import { Form } from "./form.tsx";
import { Icon } from "./icon.tsx";
import { Menu, MenuLink } from "./menu.tsx";
import { Notice, ResultNotice } from "./notice.tsx";
import { Shortcuts } from "./shortcuts.tsx";

export type Section = "gallery" | "appliances" | "service" | "api" | "account" | "help";

interface FrameProps {
  person: Person | undefined;
  theme: Theme;
  result: Result | undefined;
  section: Section | undefined;
  /** Whether the result is shown at the lower edge of the window. */
  hasToast: boolean;
  /** The operator's current announcement to everyone. */
  announcement: string | undefined;
  /** The address of the page, to come back to it after signing in. */
  to: string;
  children: Child;
}

/** The frame around the content of every page. */
export const Frame = ({ person, theme, result, hasToast, section, announcement, to, children }: FrameProps) => (
  <>
    <a class="skip" href="#main">
      To the content
    </a>
    <header class="top">
      <Brand />
      <nav aria-label="Main">
        <ul>
          {sections.map(({ name, path, words, isFor }) =>
            isFor && !isFor(person) ? null : (
              <li>
                <a href={path} aria-current={section === name ? "page" : undefined}>
                  {words}
                </a>
              </li>
            ),
          )}
        </ul>
      </nav>
      <div class="top-end">{person ? <AccountMenu person={person} /> : <SignInLink to={to} />}</div>
    </header>
    <main id="main" tabindex={-1}>
      {announcement !== undefined && (
        <div class="wrap result" id="announcement">
          <Notice tone="warn">{announcement}</Notice>
        </div>
      )}
      {!hasToast && <ResultNotice result={result} />}
      {children}
      {hasToast && <ResultNotice result={result} isToast />}
    </main>
    <footer class="foot">
      <div class="wrap">
        <span>Kiln</span>
        <a href="/help">Help</a>
        <a href="/api/docs">API</a>
        <a href="/status">Status</a>
        <Shortcuts />
        <ThemeChoice theme={theme} />
      </div>
    </footer>
  </>
);

interface SectionLink {
  name: Section;
  path: string;
  words: string;
  /** Which people see the link. By default, everyone does. */
  isFor?: (person: Person | undefined) => boolean;
}

const sections: readonly SectionLink[] = [
  { name: "gallery", path: "/", words: "Gallery" },
  { name: "appliances", path: "/appliances", words: "My appliances", isFor: (person) => person !== undefined },
  { name: "service", path: "/service", words: "Service", isFor: (person) => person?.account.isOperator === true },
  { name: "api", path: "/api/docs", words: "API" },
  { name: "help", path: "/help", words: "Help" },
];

const SignInLink = ({ to }: { to: string }) => (
  <a class="button" href={signInTo(to)}>
    <Icon name="log-in" /> Sign in
  </a>
);

const AccountMenu = ({ person }: { person: Person }) => (
  <Menu id="account-menu" look="plain" icon="user" words={person.account.username}>
    <MenuLink href="/account" icon="key-round">
      API keys and account
    </MenuLink>
    <MenuLink href="/account/sessions" icon="monitor">
      Signed-in browsers
    </MenuLink>
    <li>
      <hr />
    </li>
    <li>
      <Form action="/sign_out">
        <button class="item">
          <Icon name="log-out" /> Sign out
        </button>
      </Form>
    </li>
  </Menu>
);

/** The style sheet applies the checked one immediately. The island `theme` remembers it. */
const ThemeChoice = ({ theme }: { theme: Theme }) => (
  <form method="post" action={preferencesPath} data-theme="">
    <fieldset class="theme row">
      <legend class="hidden">Colours</legend>
      {themes.map((each) => (
        <label>
          <input type="radio" name="theme" value={each} id={`theme-${each}`} checked={each === theme} />{" "}
          {each.charAt(0).toUpperCase() + each.slice(1)}
        </label>
      ))}
      <noscript>
        <button class="button small">Remember</button>
      </noscript>
    </fieldset>
  </form>
);
