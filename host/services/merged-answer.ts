/**
 * The one answer to a call that reached several providers. Lists are joined, in the order of the providers; of other
 * answers the first counts. A provider that fails does not keep it from the others.
 * @throws the first failure if all have failed, or if one has and the service has no answer
 */
export async function mergedAnswer(calls: readonly Promise<unknown>[]): Promise<unknown> {
  const results = await Promise.allSettled(calls);
  const answers = results.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const [failure] = results.flatMap((each) => (each.status === "rejected" ? [each] : []));
  const hasAnswer = answers.some((each) => each !== undefined && each !== null);
  if (failure && !hasAnswer) throw failure.reason;
  const lists = answers.filter((each) => Array.isArray(each));
  return lists.length > 0 && lists.length === answers.length ? lists.flat() : answers[0];
}
