-- Version 6: what a request was estimated at, in the family of its model and before calibration. Beside what the
-- provider counted it teaches how far the estimate is off. NULL: not known.
ALTER TABLE usage ADD COLUMN estimated INTEGER;
