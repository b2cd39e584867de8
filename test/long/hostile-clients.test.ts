import { testAttacks } from "./attacks.ts";

for (const aim of ["the sign-in", "the viewer of a widget", "the broker"] as const)
  testAttacks(aim);
