/* Refuses every document with a DOCTYPE: metadata needs none, and entity bombs need one. Included before
 * solv_xmlparser.c, which creates all parsers. */
#include <expat.h>

static XML_Parser guarded;

static void XMLCALL refuse(void *data, const XML_Char *name, const XML_Char *system, const XML_Char *public, int subset) {
  (void)data, (void)name, (void)system, (void)public, (void)subset;
  XML_StopParser(guarded, XML_FALSE);
}

static XML_Parser guarded_parser(const XML_Char *encoding) {
  guarded = XML_ParserCreate(encoding);
  XML_SetStartDoctypeDeclHandler(guarded, refuse);
  return guarded;
}

#define XML_ParserCreate guarded_parser
