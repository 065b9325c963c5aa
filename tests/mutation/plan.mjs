/**
 * The plan that a run passes to Stryker's workers, which are separate processes. They share its environment, so the
 * plan is in a variable. `sampleFile`: the keys of the mutants to run. `testFiles`: the files that may kill them.
 * `testsFile`: results and times of these files. `reachedFolder`: the mutants that each file reached without a mutant,
 * valid for one `world`.
 */
const variable = 'COUNTERSIGN_MUTATION_PLAN';

export function recordPlan(plan) {
  process.env[variable] = JSON.stringify(plan);
}

export function readPlan() {
  return JSON.parse(process.env[variable]);
}
