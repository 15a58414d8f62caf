/** Thrown where there is nothing for a command to do: said to the person, and nobody's fault. */
export class Hint extends Error {}
