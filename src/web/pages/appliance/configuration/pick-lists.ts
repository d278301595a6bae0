import { keyboardLayouts } from "#lib/kiwi/keytables";

/** Values to pick from, some with words to find them by. */
export type PickList = readonly (readonly [value: string, words: string])[];

/** The languages of glibc. */
const languages = `
aa_DJ aa_ER aa_ET af_ZA agr_PE ak_GH am_ET an_ES anp_IN ar_AE ar_BH ar_DZ ar_EG ar_IN ar_IQ ar_JO ar_KW ar_LB ar_LY
ar_MA ar_OM ar_QA ar_SA ar_SD ar_SS ar_SY ar_TN ar_YE as_IN ast_ES ayc_PE az_AZ az_IR be_BY bem_ZM ber_DZ ber_MA bg_BG
bhb_IN bho_IN bho_NP bi_VU bn_BD bn_IN bo_CN bo_IN br_FR brx_IN bs_BA byn_ER ca_AD ca_ES ca_FR ca_IT ce_RU chr_US
ckb_IQ cmn_TW crh_UA cs_CZ csb_PL cv_RU cy_GB da_DK de_AT de_BE de_CH de_DE de_IT de_LI de_LU doi_IN dsb_DE dv_MV
dz_BT el_CY el_GR en_AG en_AU en_BW en_CA en_DK en_GB en_HK en_IE en_IL en_IN en_NG en_NZ en_PH en_SC en_SG en_US
en_ZA en_ZM en_ZW es_AR es_BO es_CL es_CO es_CR es_CU es_DO es_EC es_ES es_GT es_HN es_MX es_NI es_PA es_PE es_PR
es_PY es_SV es_US es_UY es_VE et_EE eu_ES eu_FR fa_IR ff_SN fi_FI fil_PH fo_FO fr_BE fr_CA fr_CH fr_FR fr_LU fur_IT
fy_DE fy_NL ga_IE gd_GB gez_ER gez_ET gl_ES gu_IN gv_GB ha_NG hak_TW he_IL hi_IN hif_FJ hne_IN hr_HR hsb_DE ht_HT
hu_HU hy_AM ia_FR id_ID ig_NG ik_CA is_IS it_CH it_IT iu_CA ja_JP ka_GE kab_DZ kk_KZ kl_GL km_KH kn_IN ko_KR kok_IN
ks_IN ku_TR kw_GB ky_KG lb_LU lg_UG li_BE li_NL lij_IT ln_CD lo_LA lt_LT lv_LV lzh_TW mag_IN mai_IN mai_NP mfe_MU
mg_MG mhr_RU mi_NZ miq_NI mjw_IN mk_MK ml_IN mn_MN mni_IN mnw_MM mr_IN ms_MY mt_MT my_MM nan_TW nb_NO nds_DE nds_NL
ne_NP nhn_MX niu_NU niu_NZ nl_AW nl_BE nl_NL nn_NO nr_ZA nso_ZA oc_FR om_ET om_KE or_IN os_RU pa_IN pa_PK pap_AW
pap_CW pl_PL ps_AF pt_BR pt_PT quz_PE raj_IN rif_MA ro_RO ru_RU ru_UA rw_RW sa_IN sah_RU sat_IN sc_IT sd_IN se_NO
sgs_LT shn_MM shs_CA si_LK sid_ET sk_SK sl_SI sm_WS so_DJ so_ET so_KE so_SO sq_AL sq_MK sr_ME sr_RS ss_ZA st_ZA sv_FI
sv_SE sw_KE sw_TZ szl_PL ta_IN ta_LK tcy_IN te_IN tg_TJ th_TH the_NP ti_ER ti_ET tig_ER tk_TM tl_PH tn_ZA to_TO tpi_PG
tr_CY tr_TR ts_ZA tt_RU ug_CN uk_UA unm_US ur_IN ur_PK uz_UZ ve_ZA vi_VN wa_BE wae_CH wal_ET wo_SN xh_ZA yi_US yo_NG
yue_HK yuw_PG zh_CN zh_HK zh_SG zh_TW zu_ZA
`;

/** For example "German (Austria)" for `de_AT.UTF-8`. */
export const languageList = (): PickList =>
  languages
    .trim()
    .split(/\s+/)
    .map((name) => [`${name}.UTF-8`, languageName(name)] as const)
    .toSorted(([, a], [, b]) => a.localeCompare(b));

function languageName(locale: string): string {
  const [language = "", country = ""] = locale.split("_");
  return `${languageNames.of(language) ?? language} (${countryNames.of(country) ?? country})`;
}

const languageNames = new Intl.DisplayNames("en", { type: "language" });
const countryNames = new Intl.DisplayNames("en", { type: "region" });

/** Names of keymaps, such as "french-ch", in words. */
export const keyboardList = (): PickList =>
  keyboardLayouts.map((layout) => [layout, keyboardWords[layout] ?? capital(layout.replace("-", " "))]);

const keyboardWords: Readonly<Record<string, string>> = {
  "english-us": "English (US)",
  "english-uk": "English (UK)",
  dvorak: "English (Dvorak)",
  "french-ca": "French (Canada)",
  "french-ch": "French (Switzerland)",
  "german-ch": "German (Switzerland)",
  "german-deadkey": "German (dead keys)",
  portugese: "Portuguese",
  "portugese-br": "Portuguese (Brazil)",
  "slovak-qwerty": "Slovak (QWERTY)",
  "spanish-lat": "Spanish (Latin America)",
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/**
 * The runtime's time zones by their current names. Distributions have the old names in a separate package, if at all.
 */
export const timeZoneList = (): PickList =>
  ["UTC", ...Intl.supportedValuesOf("timeZone").map((zone) => renamed[zone] ?? zone)]
    .filter((zone) => zone === "UTC" || zone.includes("/"))
    .map((zone) => [zone, ""] as const)
    .toSorted(([a], [b]) => a.localeCompare(b));

const renamed: Readonly<Record<string, string>> = {
  "Africa/Asmera": "Africa/Asmara",
  "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
  "America/Catamarca": "America/Argentina/Catamarca",
  "America/Coral_Harbour": "America/Atikokan",
  "America/Cordoba": "America/Argentina/Cordoba",
  "America/Godthab": "America/Nuuk",
  "America/Indianapolis": "America/Indiana/Indianapolis",
  "America/Jujuy": "America/Argentina/Jujuy",
  "America/Louisville": "America/Kentucky/Louisville",
  "America/Mendoza": "America/Argentina/Mendoza",
  "Asia/Calcutta": "Asia/Kolkata",
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
  "Atlantic/Faeroe": "Atlantic/Faroe",
  "Europe/Kiev": "Europe/Kyiv",
  "Pacific/Enderbury": "Pacific/Kanton",
  "Pacific/Ponape": "Pacific/Pohnpei",
  "Pacific/Truk": "Pacific/Chuuk",
};
