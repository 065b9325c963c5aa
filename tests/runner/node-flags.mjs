// Prints the flags for a shell: those of our processes, or with `--tests` those of Jest.
import { nodeFlags, testFlags } from './node-flags-of.mjs';

process.stdout.write((process.argv[2] === '--tests' ? testFlags() : nodeFlags()).join(' '));
