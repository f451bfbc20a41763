// @ts-check

/** @param {string} word */
const lowerFirst = (word) => word.charAt(0).toLowerCase() + word.slice(1);

/** @param {string} word */
const upperFirst = (word) => word.charAt(0).toUpperCase() + word.slice(1);

module.exports = { lowerFirst, upperFirst };
