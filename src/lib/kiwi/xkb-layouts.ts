/**
 * Layout and variant for XKB, which Debian uses for the console too, by the API's names of keyboard layouts
 * (compatibility.md, "Configuration").
 */
const xkbLayouts: Readonly<Record<string, readonly [layout: string, variant?: string]>> = {
  "english-us": ["us"],
  "english-uk": ["gb"],
  belgian: ["be"],
  croatian: ["hr"],
  czech: ["cz"],
  danish: ["dk"],
  dutch: ["nl"],
  dvorak: ["us", "dvorak"],
  estonian: ["ee"],
  finnish: ["fi"],
  french: ["fr"],
  "french-ca": ["ca"],
  "french-ch": ["ch", "fr"],
  german: ["de", "nodeadkeys"],
  "german-ch": ["ch"],
  "german-deadkey": ["de"],
  greek: ["gr"],
  hungarian: ["hu"],
  icelandic: ["is"],
  italian: ["it"],
  japanese: ["jp"],
  lithuanian: ["lt"],
  norwegian: ["no"],
  polish: ["pl"],
  portugese: ["pt"],
  "portugese-br": ["br"],
  romanian: ["ro"],
  russian: ["ru"],
  serbian: ["rs"],
  slovak: ["sk"],
  "slovak-qwerty": ["sk", "qwerty"],
  slovene: ["si"],
  spanish: ["es"],
  "spanish-lat": ["latam"],
  swedish: ["se"],
  turkish: ["tr"],
  ukrainian: ["ua"],
};

/** An unknown layout gets the US one. */
export const xkbOf = (name: string): readonly [layout: string, variant?: string] => xkbLayouts[name] ?? ["us"];
