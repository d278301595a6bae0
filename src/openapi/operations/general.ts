import { both, xml, type Group } from "#openapi/operation";
import { account, apiVersion, templateSet, templateSets } from "#openapi/shapes/general";

export const general: Group = {
  title: "General",
  about: "Who you are here, and what you can start from.",
  operations: [
    {
      name: "getAccount",
      method: "GET",
      path: "/account",
      versions: both,
      summary: "Your account and how much of its disk quota is used",
      answer: xml(account),
    },
    {
      name: "getApiVersion",
      method: "GET",
      path: "/api_version",
      versions: both,
      summary: "The running version: 2.0, or 1.1 on v1",
      answer: xml(apiVersion),
    },
    {
      name: "listTemplateSets",
      method: "GET",
      path: "/template_sets",
      versions: both,
      summary: "All templates in their sets; default comes first",
      answer: xml(templateSets),
    },
    {
      name: "getTemplateSet",
      method: "GET",
      path: "/template_sets/{name}",
      versions: both,
      summary: "One set of templates",
      about: { name: "Name of the set." },
      answer: xml(templateSet),
      unknown: ["invalid_template_set"],
    },
  ],
};
