import assert from "node:assert/strict";
import { test } from "node:test";
import { seccompFilter } from "../../../../host/modules/process/sandbox/seccomp.ts";

type Architecture = "x64" | "arm64" | "arm";

/** A system call as the kernel shows it to a filter. */
interface Call {
  readonly number: number;
  readonly first?: number;
  readonly second?: number;
  /** AUDIT_ARCH_* of linux/audit.h; the architecture of the filter if absent. */
  readonly architecture?: number;
}

const AUDIT: Readonly<Record<Architecture, number>> = {
  x64: 0xc000003e,
  arm64: 0xc00000b7,
  arm: 0x40000028,
};
const OUTCOMES: Readonly<Record<number, string>> = {
  0x7fff0000: "allowed",
  0x00050001: "EPERM",
  0x00050026: "ENOSYS",
  0x00050061: "EAFNOSUPPORT",
};

/** Runs the filter as the kernel does (linux/filter.h). */
function outcomeOf(filter: Buffer, architecture: Architecture, call: Call): string {
  const data = Buffer.alloc(64); // struct seccomp_data
  data.writeUInt32LE(call.number, 0);
  data.writeUInt32LE(call.architecture ?? AUDIT[architecture], 4);
  data.writeUInt32LE(call.first ?? 0, 16);
  data.writeUInt32LE(call.second ?? 0, 24);
  let loaded = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const code = filter.readUInt16LE(at);
    const value = filter.readUInt32LE(at + 4);
    const [ifTrue, ifFalse] = [filter.readUInt8(at + 2), filter.readUInt8(at + 3)];
    const jump = (isTrue: boolean): void => void (at += (isTrue ? ifTrue : ifFalse) * 8);
    if (code === 0x20) loaded = data.readUInt32LE(value);
    else if (code === 0x15) jump(loaded === value);
    else if (code === 0x35) jump(loaded >= value);
    else if (code === 0x45) jump((loaded & value) !== 0);
    else if (code === 0x06) return OUTCOMES[value] ?? `returns ${value}`;
    else assert.fail(`unknown instruction ${code}`);
  }
  return "no outcome";
}

/** Numbers from arch/x86/entry/syscalls/syscall_64.tbl, asm-generic/unistd.h and arch/arm/tools/syscall.tbl. */
const CALLS: readonly (readonly [string, Readonly<Record<Architecture, Call>>, outcome: string])[] =
  [
    ["read", numbers(0, 63, 3), "allowed"],
    ["execve", numbers(59, 221, 11), "allowed"],
    ["ptrace", numbers(101, 117, 26), "EPERM"],
    ["process_vm_readv", numbers(310, 270, 376), "EPERM"],
    ["mount", numbers(165, 40, 21), "EPERM"],
    ["unshare", numbers(272, 97, 337), "EPERM"],
    ["setns", numbers(308, 268, 375), "EPERM"],
    ["keyctl", numbers(250, 219, 311), "EPERM"],
    ["bpf", numbers(321, 280, 386), "EPERM"],
    ["init_module", numbers(175, 105, 128), "EPERM"],
    ["reboot", numbers(169, 142, 88), "EPERM"],
    ["personality", numbers(135, 92, 136), "EPERM"],
    ["open_tree", numbers(428, 428, 428), "EPERM"],
    ["pidfd_getfd", numbers(438, 438, 438), "EPERM"],
    ["quotactl_fd", numbers(443, 443, 443), "EPERM"],
    ["io_uring_setup", numbers(425, 425, 425), "ENOSYS"],
    ["clone3", numbers(435, 435, 435), "ENOSYS"],
    ["clone for a thread", numbers(56, 220, 120, { first: 0x3d0f00 }), "allowed"],
    ["clone with a user namespace", numbers(56, 220, 120, { first: 0x10000000 }), "EPERM"],
    ["clone with a network namespace", numbers(56, 220, 120, { first: 0x40000011 }), "EPERM"],
    ["clone with a mount namespace", numbers(56, 220, 120, { first: 0x00020000 }), "EPERM"],
    ["ioctl FIONREAD", numbers(16, 29, 54, { second: 0x541b }), "allowed"],
    ["ioctl TIOCSTI", numbers(16, 29, 54, { second: 0x5412 }), "EPERM"],
    ["ioctl TIOCLINUX", numbers(16, 29, 54, { second: 0x541c }), "EPERM"],
    ["ioctl on descriptor 0x5412", numbers(16, 29, 54, { first: 0x5412 }), "allowed"],
    ["socket of AF_UNIX", numbers(41, 198, 281, { first: 1 }), "allowed"],
    ["socket of AF_INET6", numbers(41, 198, 281, { first: 10 }), "allowed"],
    ["socket of AF_ALG", numbers(41, 198, 281, { first: 38 }), "EAFNOSUPPORT"],
    ["socket of AF_VSOCK", numbers(41, 198, 281, { first: 40 }), "EAFNOSUPPORT"],
  ];

function numbers(
  x64: number,
  arm64: number,
  arm: number,
  more: object = {},
): Record<Architecture, Call> {
  return {
    x64: { number: x64, ...more },
    arm64: { number: arm64, ...more },
    arm: { number: arm, ...more },
  };
}

for (const architecture of ["x64", "arm64", "arm"] as const) {
  const filter = seccompFilter(architecture) ?? Buffer.alloc(0);

  for (const [name, calls, outcome] of CALLS) {
    test(`on ${architecture}, ${name} is ${outcome === "allowed" ? "" : "refused with "}${outcome}`, () => {
      assert.equal(outcomeOf(filter, architecture, calls[architecture]), outcome);
    });
  }

  test(`on ${architecture}, calls of another architecture fail as if the kernel lacked them`, () => {
    const others = Object.values(AUDIT).filter((each) => each !== AUDIT[architecture]);
    for (const each of [...others, 0x40000003 /* i386 */]) {
      const call = { number: 0, architecture: each };
      assert.equal(outcomeOf(filter, architecture, call), "ENOSYS");
    }
  });
}

test("on x64, calls of the x32 ABI fail as if the kernel lacked them", () => {
  const filter = seccompFilter("x64") ?? Buffer.alloc(0);

  assert.equal(outcomeOf(filter, "x64", { number: 0x40000000 }), "ENOSYS");
  assert.equal(outcomeOf(filter, "x64", { number: 0x40000065 }), "ENOSYS"); // ptrace
});

test("a processor without a table of system calls has no filter", () => {
  assert.equal(seccompFilter("riscv64"), undefined);
  assert.deepEqual(seccompFilter(), seccompFilter(process.arch));
});
