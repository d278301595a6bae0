import { command } from "../command.ts";
import { onOrOff } from "../on-or-off.ts";

export const account = [
  command("account mail [on_or_off]", {
    summary: "Show whether advisories about your images are mailed to you, or turn that on or off",
    details:
      "They go to the email address of your account, if the operator has set up mail. To turn it on or off needs your API " +
      "key: no token can.",
    examples: ["kiln account mail on"],
    act: async ({ client, show }, { on_or_off: wanted }) => {
      if (wanted === undefined) {
        const { account } = await client.call("getAccount", {});
        show({ account }, () => sentenceOf(account.mails_advisories === true));
        return;
      }
      const advisories = onOrOff(wanted, "Mail");
      show(await client.call("setMail", { advisories }), () => sentenceOf(advisories));
    },
  }),
];

const sentenceOf = (isOn: boolean): string =>
  isOn ? "Advisories are mailed to you." : "Advisories are not mailed to you.";
