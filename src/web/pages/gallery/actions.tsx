import type { Arch } from "#lib/contract/index";
import { ActionButton, ButtonLink } from "../../parts/button.tsx";
import { signInTo } from "../../session.ts";

interface Published {
  applianceId: number;
  version: string;
  name: string;
  arch: Arch;
}

interface TryAndCloneProps {
  of: Published;
  canClone: boolean;
  isSignedIn: boolean;
  /** Makes the buttons larger, for the appliance's own page. */
  isLarge?: true;
}

/** The buttons to try and clone it. Visitors sign in first, and then come back to the appliance. */
export const TryAndClone = ({ of: published, canClone, isSignedIn, isLarge }: TryAndCloneProps) => {
  const { applianceId, version, name, arch } = published;
  const at = `/gallery/${applianceId}/${version}`;
  const about = isLarge ? undefined : `: ${name}`;
  if (!isSignedIn) {
    const looks = isLarge ? ["primary large", "large"] : ["", "plain"];
    return (
      <>
        <ButtonLink look={looks[0] ?? ""} icon="play" href={signInTo(`${at}?then=try`)} about={about}>
          Try it
        </ButtonLink>
        {canClone && (
          <ButtonLink look={looks[1] ?? ""} icon="copy" href={signInTo(`${at}?then=clone`)} about={about}>
            Clone
          </ButtonLink>
        )}
      </>
    );
  }
  return (
    <>
      <ActionButton action={`${at}/testdrive`} once look={isLarge ? "primary large" : ""} icon="play" about={about}>
        Try it
      </ActionButton>
      {canClone && (
        <ActionButton
          action="/appliances"
          fields={{ clone_from: applianceId, arch }}
          once
          look={isLarge ? "large" : "plain"}
          icon="copy"
          about={about}
        >
          Clone
        </ActionButton>
      )}
    </>
  );
};
