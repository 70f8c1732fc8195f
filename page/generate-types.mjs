/**
 * Generate src/api/schema.ts from openapi.json, before every build, type check, test and dev server.
 *
 * The result is not committed: it would double each change of the API in every diff, and it can be
 * made without Python and without the network. `openapi.json` is committed instead, and a Python
 * test fails when it differs from what the app says (tests/web/test_openapi.py).
 */

import { mkdir, readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const source = new URL("openapi.json", import.meta.url);
const target = new URL("src/api/schema.ts", import.meta.url);

const syntax = await openapiTS(source, {
  rootTypes: true,
  rootTypesNoSchemaPrefix: true,
  defaultNonNullable: false, // a field with a default may be omitted in a request
});
const text = `/** Generated from openapi.json by generate-types.mjs. */\n\n${astToString(syntax)}`;
// Left alone when nothing changed: a newer source would make the next `pip install` build again.
await mkdir(new URL(".", target), { recursive: true });
const before = await readFile(target, "utf8").catch(() => "");
if (text !== before) await writeFile(target, text);
