import { builtinModules } from "node:module";
import { dirname, relative, resolve, sep } from "node:path";
import { SDK_FOLDER } from "./esbuild-plugin.ts";

const BUILTIN = new Set(builtinModules);

type Sentence = (words: readonly string[], folder: string) => string;

/** The compiler's texts, and the sentences for authors; `words` are the groups of the pattern and its suggestion. */
export const SENTENCES: readonly (readonly [RegExp, Sentence])[] = [
  [
    /^Could not resolve "(\.{0,2}\/[^"]*)"/,
    ([path]) => `cannot find ${path}; check the path and the name of the file`,
  ],
  [/^Could not resolve "([^"]+)"/, ([name = ""]) => missingPackage(name)],
  [
    /^No matching export in "([^"]+)" for import "default"/,
    ([file = ""], folder) =>
      `${nameIn(folder, file)} has no default export; import one of its names in braces`,
  ],
  [
    /^No matching export in "([^"]+)" for import "([^"]+)"/,
    ([file = "", name, near], folder) =>
      `${nameIn(folder, file)} does not export ${name}; ${near ? `did you mean ${near}?` : "check the name, or export it there"}`,
  ],
  [
    /^The symbol "([^"]+)" has already been declared/,
    ([name]) => `${name} is declared twice; rename one of the two`,
  ],
  [
    /^Cannot assign to "([^"]+)" because it is a constant/,
    ([name]) => `${name} is a constant; declare it with "let" to assign to it`,
  ],
  [
    /^"await" can only be used inside an "async" function/,
    () => 'await is used outside an async function; write "async" before the function',
  ],
  [
    /^No loader is configured for "([^"]+)" files/,
    ([ending]) =>
      `files with the ending ${ending} cannot be imported; import code, JSON or WebAssembly, and in a widget also images, fonts and style sheets`,
  ],
  // JSX
  [
    /^Unexpected end of file before a closing (?:"([^"]+)"|fragment) tag/,
    ([tag = ""]) => `syntax error: the tag <${tag}> is not closed`,
  ],
  [
    /^Unexpected closing (?:"([^"]+)"|fragment) tag does not match opening (?:"([^"]+)"|fragment) tag/,
    ([closing = "", opening = ""]) =>
      `syntax error: <${opening}> is closed by </${closing}>; close it by </${opening}>`,
  ],
  [
    /^The JSX syntax extension is not currently enabled/,
    () => "JSX is only read in files with the ending .tsx or .jsx; rename the file",
  ],

  // JSON
  [
    /^JSON does not support trailing commas/,
    () => "invalid JSON: remove the comma after the last entry",
  ],
  [/^JSON does not support comments/, () => "invalid JSON: remove the comment"],
  [/^JSON strings must use double quotes/, () => "invalid JSON: write texts in double quotes"],
  [
    /^(?:Unexpected end of file in JSON|Expected .+ in JSON but found end of file)/,
    () => "invalid JSON: the file ends too early; close the last bracket or quote",
  ],
  [
    /^Expected end of file in JSON but found (.+)$/,
    ([found]) => `invalid JSON: remove ${found} after the value`,
  ],
  [
    /^Expected string in JSON but found (.+)$/,
    ([found]) => `invalid JSON: expected a text in double quotes, found ${found}`,
  ],
  [
    /^Expected (.+) in JSON but found (.+)$/,
    ([wanted, found]) => `invalid JSON: expected ${wanted}, found ${found}`,
  ],
  [/^Unexpected (.+) in JSON$/, ([found]) => `invalid JSON: unexpected ${found}`],

  // names and values
  [
    /^(?:The (?:constant|declaration) "([^"]+)"|This constant) must be initialized/,
    ([name = "a constant"]) => `${name} needs a value; write "=" and the value after it`,
  ],
  [
    /^Cannot assign to import "([^"]+)"/,
    ([name]) => `${name} is imported and cannot be assigned to; change it in its own file`,
  ],
  [
    /^Invalid assignment target/,
    () => 'only a variable or a property can be assigned to; compare with "==="',
  ],
  [
    /^Multiple exports with the same name "default"/,
    () => "the file has two default exports; keep one",
  ],
  [
    /^Multiple exports with the same name "([^"]+)"/,
    ([name]) => `${name} is exported twice; keep one of the two`,
  ],
  [
    /^"([^"]+)" is not declared in this file/,
    ([name]) => `${name} is exported but not declared in this file; check the name`,
  ],
  [
    /^"([^"]+)" cannot be bound multiple times in the same parameter list/,
    ([name]) => `two parameters have the name ${name}; rename one of the two`,
  ],
  [
    /^(?:Cannot use "([^"]+)" as an identifier here|"([^"]+)" is a reserved word)/,
    ([name, word]) => `${name ?? word} is a reserved word; choose another name`,
  ],
  [
    /^Private name "([^"]+)" must be declared in an enclosing class/,
    ([name]) => `${name} is not declared in this class; declare it, or check the name`,
  ],
  [
    /^Delete of a bare identifier/,
    () => '"delete" removes a property; a variable cannot be deleted',
  ],
  [
    /^Legacy octal literals/,
    () => "a number cannot begin with 0; remove the 0, or write 0o for an octal number",
  ],

  // places
  [
    /^(?:Cannot use "await" outside an async function|The keyword "await" cannot be used here)/,
    () => 'await is used outside an async function; write "async" before the function',
  ],
  [
    /^Cannot use "yield" outside a generator function/,
    () => 'yield is used outside a generator function; write "function*"',
  ],
  [
    /^Cannot use "(break|continue)" here/,
    ([word]) => `${word} is used outside a loop; in a function write "return"`,
  ],
  [/^Top-level return cannot be used/, () => "return is used outside a function"],
  [
    /^There is no containing label named "([^"]+)"/,
    ([name]) => `no loop around this statement has the label ${name}`,
  ],
  [
    /^Unexpected "super"/,
    () => 'super is only possible in a class that extends another one; write "extends"',
  ],
  [
    /^Unexpected "export"/,
    () => "syntax error: an export must be outside all braces; check that a brace above is closed",
  ],
  [/^Cannot (?:use|access) "([^"]+)" here/, ([word]) => `${word} cannot be used at this place`],
  [
    /^(?:Decorators are not valid here|Expected "class" but found)/,
    () => "a decorator stands only before a class or a member of a class",
  ],
  [
    /^Parameter decorators/,
    () => "decorators of parameters are not supported; decorate the class or the method",
  ],

  // classes and functions
  [
    /^Classes cannot contain more than one constructor/,
    () => "the class has two constructors; keep one",
  ],
  [
    /^Getter "([^"]+)" must have zero arguments/,
    ([name]) => `the getter ${name} must have no parameter`,
  ],
  [
    /^Setter "([^"]+)" must have exactly one argument/,
    ([name]) => `the setter ${name} must have one parameter`,
  ],
  [
    /^Invalid field name "([^"]+)"/,
    ([name]) => `a field of a class cannot have the name ${name}; choose another one`,
  ],
  [
    /^Unexpected "," after rest pattern/,
    () => 'syntax error: what begins with "..." must be the last, without a comma after it',
  ],

  // statements
  [
    /^Unexpected newline before "=>"/,
    () => 'syntax error: "=>" must be on the line on which the parameters end',
  ],
  [
    /^Unexpected newline after "throw"/,
    () => 'syntax error: the error must be on the line of its "throw"',
  ],
  [
    /^Cannot use "\?\?" with "([^"]+)" without parentheses/,
    ([other]) => `syntax error: put the part with ${other} into parentheses, beside ??`,
  ],
  [
    /^Expected "finally" but found/,
    () => 'syntax error: a "try" needs a "catch" or "finally" after it',
  ],
  [
    /^Expected "case" but found/,
    () => 'syntax error: in a "switch" each statement is below a "case" or "default"',
  ],
  [
    /^Multiple default clauses are not allowed/,
    () => 'the "switch" has two default clauses; keep one',
  ],
  [
    /^for-in loops must have a single declaration/,
    () => "a for-in loop declares exactly one variable",
  ],
  [
    /^for-of loop variables cannot have an initializer/,
    () => "the variable of a for-of loop gets its values from the loop; remove the one after it",
  ],

  // characters
  [
    /^Unexpected "([“”„‘’])"/,
    ([quote]) => `syntax error: ${quote} is a typographic quote; write " or '`,
  ],
  [
    /^Expected "\*\/" to terminate multi-line comment/,
    () => "syntax error: the comment is not closed; end it with */",
  ],
  [
    /^(?:Unexpected|Expected .+ but found) end of file/,
    () => "syntax error: the file ends too early; close the last bracket or quote",
  ],
  [
    /^Unterminated (string literal|regular expression)/,
    ([what]) =>
      `syntax error: the ${what === "string literal" ? "string or template" : what} is not closed`,
  ],
  [
    /^Expected (.+) but found (.+)$/,
    ([wanted, found]) => `syntax error: expected ${wanted}, found ${found}`,
  ],
  [/^Unexpected (.+)$/, ([found]) => `syntax error: unexpected ${found}`],
  [/^Syntax error (.+)$/, ([found]) => `syntax error: unexpected ${found}`],
];

function missingPackage(name: string): string {
  if (BUILTIN.has(name)) {
    return `a widget runs in the browser, which has no ${name}: use it in the plugin's server side`;
  }
  return `the package ${name} is not installed; name it under "dependencies" in the plugin's package.json`;
}

/** The compiler's paths are relative to the working folder. Parts of the SDK are named as they are imported. */
function nameIn(folder: string, file: string): string {
  const path = resolve(file);
  if (!path.startsWith(SDK_FOLDER + sep)) return relative(folder, path);
  return `@mantel/plugin-sdk/${relative(SDK_FOLDER, dirname(path))}`;
}
