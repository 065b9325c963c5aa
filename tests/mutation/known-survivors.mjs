/**
 * Mutants that live, each with why. `equivalent`: nothing that anybody could see differs, so they are not counted. `left`: something
 * differs, and it is not worth a test; they count as survivors. `line` is the line of source on which the mutant begins. An entry whose
 * mutant is gone, or is killed, fails `make mutate`.
 */
export const knownSurvivors = [];
