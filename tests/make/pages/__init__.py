"""The pages of the site, by what they show."""
