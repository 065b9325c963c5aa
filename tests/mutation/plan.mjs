/**
 * The plan that a run passes to Stryker's workers, which are processes of their own. It is in their environment,
 * because they share that with it. `sampleFile`: the keys of the mutants to run. `testFiles`: the files that may kill
 * them. `testsFile`: what is known of those. `reachedFolder`: what each of them reached without a mutant, while `world`
 * stays.
 */
const variable = 'COUNTERSIGN_MUTATION_PLAN';

export function recordPlan(plan) {
  process.env[variable] = JSON.stringify(plan);
}

export function readPlan() {
  return JSON.parse(process.env[variable]);
}
