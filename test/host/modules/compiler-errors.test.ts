import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { build, type BuildFailure } from "esbuild";
import { compilerSentence } from "../../../host/modules/build/compiler-errors.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const CASES: readonly (readonly [source: string, sentence: string])[] = [
  ["export const = 1;", 'syntax error: expected identifier, found "="'],
  ["foo(;", 'syntax error: unexpected ";"'],
  ["let x = 08n", 'syntax error: unexpected "n"'],
  ["if (", "syntax error: the file ends too early; close the last bracket or quote"],
  ["const a = {", "syntax error: the file ends too early; close the last bracket or quote"],
  ["'abc", "syntax error: the string or template is not closed"],
  ["/abc", "syntax error: the regular expression is not closed"],
  ["let a; let a;", "a is declared twice; rename one of the two"],
  ["const b = 1; b = 2;", 'b is a constant; declare it with "let" to assign to it'],
  [
    "function f() { await g(); }",
    'await is used outside an async function; write "async" before the function',
  ],
  ['import "./x.ts"', "cannot find ./x.ts; check the path and the name of the file"],
  [
    'import "nopkg"',
    `the package nopkg is not installed; name it under "dependencies" in the plugin's package.json`,
  ],
  [
    'import "fs"',
    "a widget runs in the browser, which has no fs: use it in the plugin's server side",
  ],
  [
    'import { z } from "./other.ts"; z();',
    "other.ts does not export z; check the name, or export it there",
  ],
  [
    'import { lampStat } from "./other.ts"; lampStat();',
    "other.ts does not export lampStat; did you mean lampState?",
  ],
  [
    'import z from "./other.ts"; z();',
    "other.ts has no default export; import one of its names in braces",
  ],
  [
    'import "./page.vue"',
    "files with the ending .vue cannot be imported; import code, JSON or WebAssembly, and in a widget also images, fonts and style sheets",
  ],
  ["foo(1, 2;", 'syntax error: expected ")", found ";"'],
  ["/* abc", "syntax error: the comment is not closed; end it with */"],
  ["const a = `abc", "syntax error: the string or template is not closed"],
  ["const a = “abc”", `syntax error: “ is a typographic quote; write " or '`],
  [
    "f(); function f() { for await (const a of b) {} }",
    'await is used outside an async function; write "async" before the function',
  ],
  [
    "class A { static { await x } }",
    'await is used outside an async function; write "async" before the function',
  ],
  ["const await = 1; export {}", "await is a reserved word; choose another name"],
  ["let let = 1; export {}", "let is a reserved word; choose another name"],
  ["const a;", 'a needs a value; write "=" and the value after it'],
  ["const { a };", 'a constant needs a value; write "=" and the value after it'],
  [
    'import { y } from "./other.ts"; y = 1;',
    "y is imported and cannot be assigned to; change it in its own file",
  ],
  ["if (f() = 1) {}", 'only a variable or a property can be assigned to; compare with "==="'],
  ["export default 1; export default 2;", "the file has two default exports; keep one"],
  ["export const a = 1; export { a };", "a is exported twice; keep one of the two"],
  ["const f = (a, a) => 1;", "two parameters have the name a; rename one of the two"],
  [
    "class A { f() { this.#x; } }",
    "#x is not declared in this class; declare it, or check the name",
  ],
  ["let x; delete x; export {}", '"delete" removes a property; a variable cannot be deleted'],
  [
    "const a = 010; export {}",
    "a number cannot begin with 0; remove the 0, or write 0o for an octal number",
  ],
  ["function f() { yield 1; }", 'yield is used outside a generator function; write "function*"'],
  ["break;", 'break is used outside a loop; in a function write "return"'],
  ["export {}; return 1;", "return is used outside a function"],
  ["for (;;) { break outer; }", "no loop around this statement has the label outer"],
  [
    "class A { constructor() { super(); } }",
    'super is only possible in a class that extends another one; write "extends"',
  ],
  [
    "function f() { export const a = 1; }",
    "syntax error: an export must be outside all braces; check that a brace above is closed",
  ],
  ["const a = @dec 1;", "a decorator stands only before a class or a member of a class"],
  ["@dec let a;", "a decorator stands only before a class or a member of a class"],
  [
    "class A { f(@dec x: number) {} }",
    "decorators of parameters are not supported; decorate the class or the method",
  ],
  ["class A { constructor() {} constructor() {} }", "the class has two constructors; keep one"],
  ["class A { get x(a) {} }", "the getter x must have no parameter"],
  ["class A { set x() {} }", "the setter x must have one parameter"],
  [
    'class A { "constructor" = 1 }',
    "a field of a class cannot have the name constructor; choose another one",
  ],
  [
    "const [...a,] = b;",
    'syntax error: what begins with "..." must be the last, without a comma after it',
  ],
  ["const f = (a)\n=> a;", 'syntax error: "=>" must be on the line on which the parameters end'],
  ["throw\nnew Error();", 'syntax error: the error must be on the line of its "throw"'],
  ["a || b ?? c;", "syntax error: put the part with || into parentheses, beside ??"],
  ["try {}", 'syntax error: a "try" needs a "catch" or "finally" after it'],
  [
    "switch (a) { foo; }",
    'syntax error: in a "switch" each statement is below a "case" or "default"',
  ],
  ["switch (a) { default: default: }", 'the "switch" has two default clauses; keep one'],
  ["for (let a, b in c) {}", "a for-in loop declares exactly one variable"],
  [
    "for (let a = 1 of b) {}",
    "the variable of a for-of loop gets its values from the loop; remove the one after it",
  ],
  ["new.target", "new.target cannot be used at this place"],
  ["a: a: for (;;) {}", 'the code cannot be compiled: Duplicate label "a"'],
];

/** Errors in a file that the plugin imports. */
const IMPORTED: readonly (readonly [file: string, source: string, sentence: string])[] = [
  ["page.tsx", "const a = <div>hi", "syntax error: the tag <div> is not closed"],
  [
    "page.tsx",
    "const a = <div></span>;",
    "syntax error: <div> is closed by </span>; close it by </div>",
  ],
  ["page.tsx", "const a = <><p></>", "syntax error: <p> is closed by </>; close it by </p>"],
  ["page.tsx", "const a = <>hi", "syntax error: the tag <> is not closed"],
  [
    "page.js",
    "const a = <div>hi</div>;",
    "JSX is only read in files with the ending .tsx or .jsx; rename the file",
  ],
  ["page.js", "export { b };", "b is exported but not declared in this file; check the name"],
  ["data.json", '{ "a": 1, }', "invalid JSON: remove the comma after the last entry"],
  ["data.json", '{ "a": 1 /* x */ }', "invalid JSON: remove the comment"],
  ["data.json", "{ 'a': 1 }", "invalid JSON: write texts in double quotes"],
  [
    "data.json",
    '{ "a": 1',
    "invalid JSON: the file ends too early; close the last bracket or quote",
  ],
  ["data.json", "", "invalid JSON: the file ends too early; close the last bracket or quote"],
  ["data.json", "{ a: 1 }", 'invalid JSON: expected a text in double quotes, found "a"'],
  ["data.json", '{ "a" 1 }', 'invalid JSON: expected ":", found "1"'],
  ["data.json", '{ "a": 1 } x', 'invalid JSON: remove "x" after the value'],
  ["data.json", '{ "a": undefined }', 'invalid JSON: unexpected "undefined"'],
];

const FILES = [
  ...CASES.map(([source, sentence]) => ["index.ts", source, sentence] as const),
  ...IMPORTED,
];

for (const [file, source, sentence] of FILES) {
  test(`the error of ${source} in ${file} is "${sentence}"`, async (t) => {
    const folder = await emptyFolder(t);
    await writeFile(join(folder, "other.ts"), "export const lampState = 1;");
    await writeFile(join(folder, "page.vue"), "<p>");
    await writeFile(join(folder, "index.ts"), `import "./${file}";`);
    await writeFile(join(folder, file), source);
    const options = { bundle: true, write: false, logLevel: "silent", format: "cjs" } as const;

    const failure: unknown = await build({
      ...options,
      platform: "browser",
      entryPoints: [join(folder, "index.ts")],
    }).catch((error: unknown) => error);

    const [message = assert.fail()] = (failure as BuildFailure).errors;
    assert.equal(compilerSentence(message, folder), sentence);
  });
}

test("an error of our own checks is shown as it is", () => {
  const message = { text: "lamp.png is too large", pluginName: "bounded" };

  assert.equal(compilerSentence(message as never, "/"), "lamp.png is too large");
});
