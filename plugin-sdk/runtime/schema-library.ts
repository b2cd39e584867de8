// What the SDK uses of its library for schemas. It is more than half of the code that a process could load, so it is
// compiled into a file of its own, which a process loads when its plugin has a schema.
export { Type } from "typebox";
export { Errors } from "typebox/schema";
