import { testRuntimeFaults } from "./runtime-faults.ts";

testRuntimeFaults(2);
